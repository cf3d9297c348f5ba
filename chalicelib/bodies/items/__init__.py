"""Bodies about what is shared."""
