"""What is written from the code: pages, OpenAPI, quotas, costs."""
