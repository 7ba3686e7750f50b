"""The number of examples of property-based tests: few by default, PLANTDESK_CASES in long runs."""

import os

from hypothesis import HealthCheck, settings

_WANTED = os.environ.get("PLANTDESK_CASES")


def number(few: int) -> int:
    return int(_WANTED) if _WANTED else few


def runs(few: int) -> settings:
    """Return the settings of a state machine, each run of which takes seconds: a tenth of the examples."""
    return settings(cases(few), max_examples=int(_WANTED) // 10 if _WANTED else few, stateful_step_count=30)


def cases(few: int) -> settings:
    """Use the same examples in every short run, and random ones in a long run."""
    return settings(
        max_examples=number(few),
        derandomize=_WANTED is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
