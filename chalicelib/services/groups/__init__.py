"""Groups: made, changed, listed, and what a change would do."""
