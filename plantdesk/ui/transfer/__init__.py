"""Import and export of files of plants."""
