"""What an organisation has decided for all its people."""
