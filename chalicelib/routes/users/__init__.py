"""Endpoints of users, their roles, and what their organisation has decided for all of them."""
