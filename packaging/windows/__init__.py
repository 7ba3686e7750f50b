"""Packages for Windows."""
