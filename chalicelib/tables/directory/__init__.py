"""What is linked to a company's directory."""
