"""Resources, their secrets, types, favorites and comments: stored, changed, listed."""
