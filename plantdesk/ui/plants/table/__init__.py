"""The table of plants: rows are read in pages, and only their order is in memory as a whole."""
