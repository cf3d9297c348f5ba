"""Resources with their secrets, favorites and comments: stored, changed, listed."""
