"""What the tenants of a cell share, composed from the code."""
