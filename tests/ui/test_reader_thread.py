from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from plantdesk.errors import PlantDeskError, StoreBusyError
from plantdesk.store.sqlite.connections import translate_errors
from plantdesk.ui.reader_thread import ReaderThread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plantdesk.store import Reader, Store
    from plantdesk.ui.reader_thread import Job, Run

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def failures() -> list[PlantDeskError]:
    return []


@pytest.fixture
def thread(store: Store) -> Iterator[ReaderThread]:
    thread = ReaderThread("reader", store)
    yield thread
    thread.close()


def endless(started: threading.Event) -> Job:
    def job(reader: Reader, _run: Run) -> None:
        started.set()
        with translate_errors():
            reader._raw.execute(ENDLESS).fetchone()  # noqa: SLF001 - a question that never ends by itself

    return job


def test_jobs_run_one_after_the_other(thread: ReaderThread, failures: list[PlantDeskError]) -> None:
    done: list[int] = []
    last = threading.Event()
    for number in range(5):
        thread.submit(lambda _reader, _run, number=number: done.append(number), failures.append)  # type: ignore[misc]
    thread.submit(lambda _reader, _run: last.set(), failures.append)
    assert last.wait(10)
    assert done == [0, 1, 2, 3, 4]


def test_a_newer_job_ends_the_one_that_runs(thread: ReaderThread, failures: list[PlantDeskError]) -> None:
    started, done = threading.Event(), threading.Event()
    thread.submit(endless(started), failures.append)
    assert started.wait(10)
    thread.submit_alone(lambda _reader, _run: done.set(), failures.append)
    assert done.wait(10)
    assert failures == []


def test_closing_ends_the_job_that_runs(thread: ReaderThread, failures: list[PlantDeskError]) -> None:
    started = threading.Event()
    thread.submit(endless(started), failures.append)
    assert started.wait(10)
    thread.close()
    thread.close()
    assert failures == []


def test_a_failure_is_told_and_the_next_job_runs(thread: ReaderThread, failures: list[PlantDeskError]) -> None:
    done = threading.Event()

    def fail(_reader: Reader, _run: Run) -> None:
        raise StoreBusyError

    thread.submit(fail, failures.append)
    thread.submit(lambda _reader, _run: done.set(), failures.append)
    assert done.wait(10)
    assert [type(failure) for failure in failures] == [StoreBusyError]


def test_a_defect_is_told_and_logged(
    thread: ReaderThread, failures: list[PlantDeskError], caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    def break_down(_reader: Reader, _run: Run) -> None:
        raise ZeroDivisionError

    thread.submit(break_down, failures.append)
    thread.submit(lambda _reader, _run: done.set(), failures.append)
    assert done.wait(10)
    assert "log" in str(failures[0])
    assert "ZeroDivisionError" in caplog.text


def test_after_a_failure_the_file_is_opened_anew(thread: ReaderThread, failures: list[PlantDeskError]) -> None:
    readers: list[Reader] = []

    def fail(reader: Reader, _run: Run) -> None:
        readers.append(reader)
        raise StoreBusyError

    def count(reader: Reader, _run: Run) -> None:
        readers.append(reader)
        counts.append(reader.count())
        done.set()

    counts: list[int] = []
    done = threading.Event()
    thread.submit(fail, failures.append)
    thread.submit(count, failures.append)
    assert done.wait(10)
    assert counts == [0]
    assert readers[0] is not readers[1]
