"""Users: invited, changed, listed, with their roles, keys and pictures."""
