"""The features of the window itself: its commands, undo and clipboard, backups, notices, and help."""
