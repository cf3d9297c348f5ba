"""How groups look to a client."""
