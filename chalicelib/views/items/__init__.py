"""How what is shared looks to a client."""
