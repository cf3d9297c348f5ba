"""Everybody's own tree over shared things: where each item lies for whom, and what gives way."""
