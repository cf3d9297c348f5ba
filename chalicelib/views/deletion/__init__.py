"""How a deletion looks to a client, before and after."""
