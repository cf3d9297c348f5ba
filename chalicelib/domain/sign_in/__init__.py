"""Sign-in without storage: how far a transfer to a phone is."""
