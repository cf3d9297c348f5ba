"""Bodies about groups."""
