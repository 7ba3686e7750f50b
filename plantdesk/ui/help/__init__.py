"""The Help menu: shortcuts, data folder, about."""
