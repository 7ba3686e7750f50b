"""Files of plants: written by an export, read by an import."""
