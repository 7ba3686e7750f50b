"""Labels of plants: sheets, their pages on screen, printer or PDF."""
