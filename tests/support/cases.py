"""How many examples generated tests try: few as a rule, as many as PLANTDESK_CASES says for the long run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_WANTED = os.environ.get("PLANTDESK_CASES")


def number(few: int) -> int:
    return int(_WANTED) if _WANTED else few


def cases(few: int, *, steps: int = 30) -> settings:
    """The same examples every time in the short run; others each time in the long one."""
    return settings(
        max_examples=number(few),
        stateful_step_count=steps,
        derandomize=_WANTED is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
