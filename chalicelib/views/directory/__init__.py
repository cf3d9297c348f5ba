"""How the company's directory looks to administrators, and people and groups to a directory."""
