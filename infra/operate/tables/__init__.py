"""Tables of a tenant: their rows, settings and indexes, and those that a release has left."""
