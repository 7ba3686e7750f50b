"""PlantDesk keeps plants in one place, by hand in a window or from scripts over a local HTTP API."""

# The one place of the version: the build reads it from here, and a frozen program has no metadata to ask.
__version__ = "0.1.0"
