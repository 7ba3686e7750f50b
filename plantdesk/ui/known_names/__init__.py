"""The list of known names that the form offers: made of a file, and removed."""
