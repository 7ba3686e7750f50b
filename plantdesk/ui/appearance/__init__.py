"""Theme and text size, as the user chooses them."""
