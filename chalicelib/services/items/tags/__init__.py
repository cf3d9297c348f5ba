"""Tags: words at resources, personal and shared; who sets, renames and encrypts them."""
