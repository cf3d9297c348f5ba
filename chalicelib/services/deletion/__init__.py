"""Users and groups that are deleted, and what becomes of what they had."""
