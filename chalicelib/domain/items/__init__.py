"""What is shared, without storage: permissions, ownership, trees, types."""
