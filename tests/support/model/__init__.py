"""What people may do, in plain Python, and what must hold of a store."""
