"""The command line: to be written."""


def main() -> int:
    """Run PlantDesk."""
    return 0
