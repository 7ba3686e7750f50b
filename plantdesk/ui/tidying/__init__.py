"""Finds plants and tags that are alike, and merges them."""
