"""What is shared, in tests: what requests are made of, and what is seen afterwards."""
