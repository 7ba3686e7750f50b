"""One dialog with a page for each way to clean up: plants that are alike, tags that are alike, names and notes."""
