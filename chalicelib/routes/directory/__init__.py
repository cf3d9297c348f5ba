"""Endpoints of the company's directory: synchronisation, and provisioning by SCIM."""
