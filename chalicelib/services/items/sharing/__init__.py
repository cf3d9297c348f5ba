"""Who gets access to an item, and who loses it."""
