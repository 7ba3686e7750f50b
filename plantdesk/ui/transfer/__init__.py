"""The import and export feature: dialogs, the work in the background, drag and drop, and sample plants."""
