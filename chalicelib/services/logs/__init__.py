"""What happened to an item, a user, a group or the service: logs, as they are read."""
