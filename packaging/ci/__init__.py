"""What CI runs, and what a release is made with."""
