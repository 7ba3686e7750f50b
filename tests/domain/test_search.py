"""The search language: how terms are parsed and written. What they find is tested with each kind of store."""

from __future__ import annotations

import time as clock
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.domain.records import SourceKind
from plantdesk.domain.search import parse_search, parse_terms, search_text
from plantdesk.domain.selections import AddedBy, AddedOn, Contains, HasId, HasTag, Not
from tests.support.cases import cases

if TYPE_CHECKING:
    from plantdesk.domain.selections import Term

PIECES = st.sampled_from(
    ["rose", "ROSE", "×", "x", "erable", "5", "-", '"', "kuche", " ", "tag:", "´", "", "none", "/"]
)


def in_note(text: str) -> Contains:
    return Contains(text, is_word=False, in_note=True)


@given(st.text() | st.text('tag:from= added"-7d\n/', max_size=30) | st.lists(PIECES, max_size=8).map("".join))
@cases(300)
def test_every_text_is_a_search_that_can_be_written_again(text: str) -> None:
    terms = parse_terms(text)
    assert parse_terms(search_text(terms)) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("  ", []),
        ('"', []),
        ('""', []),
        ("red rose", [Contains("red"), Contains("rose")]),
        ('"deep red" x', [Contains("deep red", is_word=False), Contains("x")]),
        ('"deep red', [Contains("deep red", is_word=False)]),
        ('5"pot', [Contains('5"pot')]),
        ("-rose --x -", [Not(Contains("rose")), Not(Contains("-x")), Contains("-")]),
        ('-12 -"12"', [Contains("-12"), Not(Contains("12", is_word=False))]),
        ("tag:kitchen", [HasTag("kitchen")]),
        ('TAG:"living room"-tag:x', [HasTag("living room"), Not(HasTag("x"))]),
        ('tag:none tag:"none" tag=none', [HasTag(None), HasTag("none"), HasTag("none", is_exact=True)]),
        ('tag:"a""b"', [HasTag('a"b')]),
        ('note:anna note:"from ""A""" -note:x', [in_note("anna"), in_note('from "A"'), Not(in_note("x"))]),
        ('note:"" note:', [in_note(""), Contains("note:")]),
        ("tag: kitchen", [Contains("tag:"), Contains("kitchen")]),
        ('tag:"" from:""', [HasTag(""), Contains('from:""')]),
        ("from:form", [AddedBy(SourceKind.FORM)]),
        ("from:garden-sync", [AddedBy(label="garden-sync")]),
        ("from:token/garden-sync", [AddedBy(SourceKind.TOKEN, "garden-sync")]),
        ("added:today added:yesterday added:7d", [AddedOn(0, 0), AddedOn(1, 1), AddedOn(6, 0)]),
        ("added:2026-11", [AddedOn(date(2026, 11, 1), date(2026, 11, 30))]),
        ("added:2024-02 added:2024", [AddedOn(date(2024, 2, 1), date(2024, 2, 29)), *parse_terms("added:2024")]),
        ("added:2026-11-21", [AddedOn(date(2026, 11, 21), date(2026, 11, 21))]),
        ("added:2026-02-30 added:1 added:0d", [Contains(f"added:{each}") for each in ("2026-02-30", "1", "0d")]),
        ("id:5-90 id:7 id:-5--9", [HasId(5, 90), HasId(7, 7), HasId(-9, -5)]),
        ("id:x id:99999999999999999999", [Contains("id:x"), Contains("id:99999999999999999999")]),
        ("name:rose http://x", [Contains("name:rose"), Contains("http://x")]),
    ],
)
def test_the_language(text: str, terms: list[Term]) -> None:
    assert list(parse_terms(text)) == terms


@pytest.mark.skipif(not hasattr(clock, "tzset"), reason="the time zone of a process cannot be set on Windows")
@pytest.mark.parametrize(
    "zone", ["UTC", "Europe/Berlin", "America/Havana", "Asia/Beirut", "Pacific/Apia", "Asia/Kathmandu"]
)
def test_days_follow_each_other_without_gap_in_every_time_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    clock.tzset()
    try:
        day, end = date(2025, 10, 1), None
        while day < date(2026, 11, 15):
            times = AddedOn(day, day).milliseconds()
            assert end in {None, times.start}
            local = [datetime.fromtimestamp(each / 1000).date() for each in (times.start, times.stop - 1)]  # noqa: DTZ006
            assert local == [day, day]
            day, end = day + timedelta(days=1), times.stop
    finally:
        monkeypatch.undo()
        clock.tzset()


def test_relative_days_depend_on_today() -> None:
    assert parse_search("rose added:today").depends_on_today
    assert parse_search("-added:7d").depends_on_today
    assert not parse_search("rose added:2026-11").depends_on_today
