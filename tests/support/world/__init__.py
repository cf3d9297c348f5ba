"""People, keys and things, and how tests make and send them."""
