"""Folders: stored, listed, moved, and what is deleted with them."""
