"""The commands of `keyhaven`, a module each; `command_line/tree.py` says where each stands."""
