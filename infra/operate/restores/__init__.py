"""Tables as they were before: from a moment, or from copies in the vault."""
