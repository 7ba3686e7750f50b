"""The HTTP API: one operation, its OpenAPI document, and the server. Does not import Qt."""
