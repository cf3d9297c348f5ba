"""How sign-in, second factors and mobile transfers look to a client."""
