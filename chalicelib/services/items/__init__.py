"""Folders, and resources with their secrets, favorites and comments: stored, listed, moved."""
