"""Groups and who belongs to them."""
