"""The plants: adding, searching and listing them."""
