"""Bodies about the company's directory, and those that a directory sends."""
