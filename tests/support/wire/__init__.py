"""Clients, endpoints and valid requests."""
