"""The service itself, without storage: what it logs and tells, its keys, who runs it."""
