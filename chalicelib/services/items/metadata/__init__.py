"""Encrypted descriptions of items: what is stored of them, and what settings allow."""
