"""Bodies about users, their roles, and what their organisation decides for all of them."""
