"""The HTTP interface: one operation, its description, and the server that carries them. Knows no Qt."""
