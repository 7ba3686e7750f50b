"""The list of the last requests: runs of added plants are one entry, refused ones are kept by themselves."""

from plantdesk.domain.activity import Activity
from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import PlantRow, Source, SourceKind

FAST, GOOD = Source(1, SourceKind.TOKEN, "fast-one"), Source(2, SourceKind.TOKEN, "watcher")


def plant(plant_id: int, source: Source) -> PlantRow:
    return PlantRow(plant_id, f"Plant {plant_id}", None, 0, source)


def add(activity: Activity, source: Source, *ids: int, is_new: bool = True) -> None:
    for plant_id in ids:
        activity.record_added(source, plant(plant_id, source), is_new=is_new)


def list_entries(activity: Activity) -> list[tuple[str, int, int | None]]:
    """Return program, number of plants and latest id of each entry, 0 for a refused one."""
    labels = [(answer.source.label or "" if answer.source else "", answer) for answer in activity.entries()]
    return [(label, answer.requests if answer.number is None else 0, answer.plant_id) for label, answer in labels]


def test_plants_of_programs_that_alternate_are_one_entry_for_each_program() -> None:
    activity = Activity()
    for plant_id in range(1, 1201, 2):
        add(activity, FAST, plant_id)
        add(activity, GOOD, plant_id + 1)
    assert list_entries(activity) == [("watcher", 600, 1200), ("fast-one", 600, 1199)]
    assert activity.total == 1200


def test_a_fast_program_displaces_no_refused_request() -> None:
    activity = Activity()
    activity.record_refused(ErrorNumber.ID_TAKEN, "taken", GOOD, {"id": 5})
    for plant_id in range(700):
        add(activity, Source(plant_id, SourceKind.TOKEN, str(plant_id)), plant_id)
    assert ("watcher", 0, 5) in list_entries(activity)
    assert activity.total == 701


def test_a_refused_request_ends_the_run_of_its_program() -> None:
    activity = Activity()
    add(activity, FAST, 1, 2)
    activity.record_refused(ErrorNumber.ID_TAKEN, "taken", FAST, {"id": 2})
    add(activity, FAST, 3)
    add(activity, FAST, 3, 3, is_new=False)
    assert list_entries(activity) == [("fast-one", 2, 3), ("fast-one", 1, 3), ("fast-one", 0, 2), ("fast-one", 2, 2)]


def test_requests_that_are_refused_for_one_reason_are_one_entry() -> None:
    activity = Activity()
    for plant_id in range(50):
        activity.record_refused(ErrorNumber.ID_TAKEN, "enough", FAST, {"id": plant_id})
    activity.record_refused(ErrorNumber.ID_TAKEN, "enough", GOOD, {"id": 50})
    answers = [(answer.source, answer.requests, answer.plant_id, answer.key) for answer in activity.entries()]
    assert answers == [(GOOD, 1, 50, 51), (FAST, 50, 49, 1)]
    assert activity.total == 51


def test_an_entry_keeps_its_key_while_it_grows() -> None:
    activity = Activity()
    add(activity, FAST, 1)
    (before,) = activity.entries()
    add(activity, FAST, 2)
    (after,) = activity.entries()
    assert (before.key, before.requests, after.key, after.requests) == (1, 1, 1, 2)


def test_the_listener_gets_each_request() -> None:
    received: list[tuple[int | None, int]] = []
    activity = Activity(lambda answer: received.append((answer.plant_id, answer.requests)))
    add(activity, FAST, 1, 2)
    assert received == [(1, 1), (2, 1)]
