"""The API access feature: its part of the status bar, and the dialog of tokens, requests and examples."""
