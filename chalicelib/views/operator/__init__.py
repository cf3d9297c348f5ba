"""How the service itself looks: its health, its settings, its mail server."""
