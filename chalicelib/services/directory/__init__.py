"""People and groups of a company's directory: read, and kept in step with."""
