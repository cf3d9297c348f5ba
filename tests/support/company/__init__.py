"""A company's directory: an OpenLDAP server of the test's own, on the loopback."""
