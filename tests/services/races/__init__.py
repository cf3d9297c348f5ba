"""Two requests at once, in every order of their storage calls."""
