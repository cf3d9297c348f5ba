"""Endpoints that delete users and groups, and say beforehand what goes with them."""
