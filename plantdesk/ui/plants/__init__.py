"""The plants feature: the form that adds plants, the search, the table, and the quick entry."""
