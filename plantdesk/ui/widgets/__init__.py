"""Widgets that all features use. They know no feature."""
