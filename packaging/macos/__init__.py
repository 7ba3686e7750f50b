"""The disk image for macOS."""
