"""What tests in the local cloud are given: stacks, tenants, people, traffic."""
