"""Requests at once, in every order of their storage calls."""
