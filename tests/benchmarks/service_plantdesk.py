"""PlantDesk as `plantdesk serve` runs it: a durable store and the real server.

    python service_plantdesk.py PORT DATABASE

Prints its port and a token on one line, once connections are taken; ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

from plantdesk.api.server import Server
from plantdesk.domain.server_state import On
from plantdesk.store import location_of
from plantdesk.store.sqlite.store import Store


def main() -> None:
    """Serve until standard input is closed."""
    file = Path(sys.argv[2])
    with closing(Store(file)) as store:
        token = store.tokens.create(f"load {os.getpid()}").result().token
        server = Server(store, location_of(file), file.with_name("run"))
        server.start(int(sys.argv[1]))
        state = server.settled()
        if not isinstance(state, On):
            raise SystemExit(str(state))
        print(state.port, token, flush=True)
        sys.stdin.read()
        server.stop()


if __name__ == "__main__":
    main()
