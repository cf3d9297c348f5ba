"""How logs look to clients and to auditors."""
