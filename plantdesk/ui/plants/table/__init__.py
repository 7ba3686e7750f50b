"""The table of plants: rows are read in pages, only their order is held whole."""
