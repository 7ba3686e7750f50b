"""The card: details of the selected plants, beside the list."""
