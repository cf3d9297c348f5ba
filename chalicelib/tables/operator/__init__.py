"""What the service tells people by mail, and the key it publishes."""
