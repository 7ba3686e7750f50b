"""Colours, sizes, icons and the style sheet."""
