"""What is shared: items, who has them, where, and what belongs to them."""
