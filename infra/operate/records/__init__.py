"""What happened in a tenant, for programs elsewhere: logs and traces."""
