"""Bodies of sign-in, second factors, setup and mobile transfers."""
