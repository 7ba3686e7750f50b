"""Backups that the user makes and restores."""
