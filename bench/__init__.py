"""Measures the service: its code against floors, its start, and what a client sees of it."""
