"""Random texts that are JSON, or nearly."""

import json

from hypothesis import strategies as st

_NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
_STRINGS = st.text(max_size=5).map(json.dumps) | st.sampled_from(
    ['"\\ud83c\\udf31"', '"\\ud800"', '"\\u0000"', '"a\tb"', '"é"']
)


def _format_object(members: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in members) + "}"


VALUES = st.recursive(
    _NUMBERS
    | _STRINGS
    | st.sampled_from(["null", "true", "false", "NaN", "-Infinity", "01", "1.", ".5", "+1", "'x'", ""]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: f"[{', '.join(values)}]")
        | st.lists(st.tuples(_STRINGS, inner), max_size=3).map(_format_object)
    ),
    max_leaves=5,
)
_NAMES = st.sampled_from(['"id"', '"name"', '"tag"']) | _STRINGS
OBJECTS = st.lists(st.tuples(_NAMES, VALUES), max_size=4).map(_format_object)
