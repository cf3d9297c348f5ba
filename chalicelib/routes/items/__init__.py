"""Endpoints of what is shared: resources, folders, tags, secrets, and the keys of metadata."""
