"""The templates of a cell and of its tenants, composed from the code."""
