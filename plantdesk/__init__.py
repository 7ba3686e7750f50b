"""PlantDesk keeps plants in one place, by hand in a window or from scripts over a local HTTP API."""

# The one place of the version: the build reads it from here, and a frozen program has no metadata to ask.
__version__ = "0.1.0"

#: By this name the systems know the program: desktop entry, metainfo, bundle and login items are called so.
APP_ID = "io.github.plantdesk.PlantDesk"
#: As in pyproject.toml, which a frozen program has not at hand.
HOME_PAGE = "https://github.com/plantdesk/plantdesk"
