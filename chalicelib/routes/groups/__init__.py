"""Endpoints of groups."""
