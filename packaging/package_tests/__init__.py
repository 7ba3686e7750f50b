"""Packages are installed, used, upgraded and removed."""
