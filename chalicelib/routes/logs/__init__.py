"""Endpoints that show what happened."""
