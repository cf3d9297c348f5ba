"""What must always hold, over all rows. Not shipped with the functions."""
