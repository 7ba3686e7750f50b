"""A store's file on the disk: its lock, how it is opened, checked, replaced and closed."""
