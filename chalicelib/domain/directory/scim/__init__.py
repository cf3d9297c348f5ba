"""SCIM as values: its words, filters and changes, without a request or a row (RFC 7643, 7644)."""
