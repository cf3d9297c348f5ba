"""Bodies of deletions."""
