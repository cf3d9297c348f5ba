"""Endpoints by which people become known: sign-in, second factors, setup, another phone."""
