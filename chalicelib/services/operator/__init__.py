"""What runs without a client: founding, mails, sweeping, health, keys of the service."""
