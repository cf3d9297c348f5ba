"""The service itself, in tests: its mails, keys, releases, and who runs it."""
