"""The window. Imports nothing of `plantdesk.api`, and nothing heavy before the first paint."""
