"""The service on one machine: `make serve`."""
