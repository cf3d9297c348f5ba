"""How people get in: sign-in, sessions, setup, registration, recovery."""
