"""Bodies about the service itself."""
