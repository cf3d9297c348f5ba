"""What goes wrong around a request: calls that fail, processes that die, rows that change."""
