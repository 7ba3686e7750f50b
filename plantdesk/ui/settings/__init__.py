"""The settings page: everything that can be set, applied at once."""
