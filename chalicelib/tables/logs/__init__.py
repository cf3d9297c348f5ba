"""What happened, and who read what."""
