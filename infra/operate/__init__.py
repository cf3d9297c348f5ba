"""Tenants in an account: from onboarding to offboarding, step by step."""
