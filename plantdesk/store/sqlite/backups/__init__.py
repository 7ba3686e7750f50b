"""Backups of a SQLite store: when they are made, which stay, and how they are restored."""
