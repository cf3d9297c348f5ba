"""Endpoints of the service itself: its health, settings, mail server, pages."""
