"""Users: invited, changed, suspended, listed, found, with their keys and pictures."""
