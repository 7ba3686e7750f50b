"""The card: what is known of the selected plants, beside the list."""
