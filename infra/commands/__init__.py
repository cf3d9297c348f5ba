"""The commands of `python -m infra`, a module of each name."""
