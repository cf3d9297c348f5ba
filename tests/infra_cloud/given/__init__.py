"""What commands are given in tests: a mock account, and IAM as it would answer."""
