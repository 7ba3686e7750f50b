"""PlantDesk keeps plants in one place, by hand in a window or from scripts over a local HTTP API."""

# The build reads the version from here; a frozen program has no package metadata.
__version__ = "1.0.0"

#: The port of the API; fixed, so that scripts keep working.
DEFAULT_PORT = 8721
#: The largest port of TCP.
LARGEST_PORT = 65_535
#: The name of the desktop entry, metainfo, bundle and login items.
APP_ID = "io.github.plantdesk.PlantDesk"
#: The same as in pyproject.toml, which a frozen program does not contain.
HOME_PAGE = "https://github.com/plantdesk/plantdesk"
#: The beginning of the address of a plant. Labels have the address as a QR code; the system opens it with PlantDesk.
URL_SCHEME = "plantdesk:"
