"""The command `keyhaven`: what it can do, how words are read, and what a shell completes.

The standard library alone, so that help can be read where nothing is installed yet (ADR 41).
"""
