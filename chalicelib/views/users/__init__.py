"""How users, their roles and what their organisation has decided look to a client."""
