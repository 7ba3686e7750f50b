"""`python -m plantdesk`: the same as the command `plantdesk`."""

import sys

from plantdesk.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
