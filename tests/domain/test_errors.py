import copy
import inspect
import pickle
import string
from typing import Any

import pytest

from plantdesk.domain import errors, imports, protocols, server_state, strict_json
from plantdesk.domain.errors import InvalidField, PlantDeskError, StoreError
from plantdesk.domain.imports import ImportConflictError
from plantdesk.domain.records import PlantContent, Source, SourceKind
from plantdesk.domain.texts import Text, joined, shortened

#: A value for each parameter of an exception; one that is named otherwise needs another value.
GIVEN: dict[str, object] = {
    "text": Text("It does not work: {reason}.", reason="no such device"),
    "fields": [InvalidField("id", Text("The ID is missing.")), InvalidField("name", Text("The name is missing."))],
    "owner": PlantContent(1, "Fern", "kitchen", None),
    "database": "/home/ada/plants.db",
    "source": Source(1, SourceKind.TOKEN, "scanner"),
    "names": ["id", "name"],
    "current": None,
    "what": Text("The file “{name}”", name="plants.db"),
    **dict.fromkeys(("name", "tag", "title", "file", "backups"), "Fern {id}"),
    **dict.fromkeys(("max_plants", "plant_id", "expected", "found", "plants", "count", "port", "free_port"), 1234),
}


#: All exceptions of the domain.
KINDS = {
    value.__name__: value
    for module in (errors, imports, protocols, server_state, strict_json)
    for value in vars(module).values()
    if inspect.isclass(value) and issubclass(value, PlantDeskError)
}


def example(kind: type[PlantDeskError]) -> PlantDeskError:
    parameters = inspect.signature(kind).parameters.values()
    given: list[Any] = [
        GIVEN[each.name] for each in parameters if each.kind not in {each.VAR_KEYWORD, each.KEYWORD_ONLY}
    ]
    return kind(*given)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_error_has_a_template_and_values(kind: type[PlantDeskError]) -> None:
    error = example(kind)
    for template in filter(None, [error.text.template, error.text.one]):
        fields = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
        assert fields <= set(error.text.values)
    assert str(error) == str(error.text)
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301  made here
        assert (type(again), again.text, again.__dict__.keys()) == (kind, error.text, error.__dict__.keys())


def test_a_text_is_its_template_filled_in() -> None:
    name = Text("the plant “{name}”", name="{id}")
    text = Text("{plant} is one of {number:,}.", plant=name, number=12345)
    assert str(text) == "the plant “{id}” is one of 12,345."
    assert text == Text("{plant} is one of {number:,}.", plant=name).filled(number=12345)
    assert text != text.filled(other=1)
    odd: dict[str, str | float | Text] = {"self": "1", "template": "2", "one": "3", "number": 4}
    assert text.filled(**odd).values == {"plant": name, "number": 4, "self": "1", "template": "2", "one": "3"}
    assert str(joined([name])) == str(name)
    assert str(joined([Text("One."), Text("Two."), Text("{n}.", n="Three")])) == "One. Two. Three."


def test_a_text_has_a_form_for_one() -> None:
    assert str(ImportConflictError(1)) == "1 row has an ID that is taken, so nothing was imported."
    assert str(ImportConflictError(1000)) == "1,000 rows have an ID that is taken, so nothing was imported."
    assert ImportConflictError(1).text.values == {"count": 1}


def test_every_store_error_is_a_503() -> None:
    """A defect of PlantDesk is 500."""
    known = [StoreError]
    for kind in known:
        assert kind.number.status == 503, kind
        known += kind.__subclasses__()
    assert len(known) > 5


@pytest.mark.parametrize(
    ("text", "line"),
    [("Aloe", "Aloe"), ("a\nb\0c\x1b[31m", "a b c [31m"), ("x" * 61, "x" * 59 + "…"), ("x" * 60, "x" * 60)],
)
def test_quoted_text_is_one_short_line(text: str, line: str) -> None:
    assert shortened(text) == line
