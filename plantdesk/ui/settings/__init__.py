"""The settings feature: a dialog with all settings of the user, each of which applies at once."""
