"""Roles, and what they are allowed."""
