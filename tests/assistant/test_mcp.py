"""`plantdesk mcp` with the SDK's own client, over real pipes."""

import asyncio
import json
import select
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, Implementation, StdioServerParameters
from mcp_types import CallToolResult

from plantdesk.domain.edits import Insert, edited
from plantdesk.domain.records import FORM
from plantdesk.domain.selections import Selection
from plantdesk.domain.validation import new_plant, plant_fields
from plantdesk.store.sqlite.store import SqliteStore
from tests.support.programs import Home
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.anyio

READING = {"search_plants", "get_plants", "list_tags", "recent_changes"}
WRITING = READING | {"add_plants", "edit_plants", "merge_tags", "undo_change"}


class Assistant:
    """One assistant, and what it is answered."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def asks(self, tool: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Call a tool and return its structured answer."""
        answer = await self.result(tool, **arguments)
        assert not answer.is_error, answer.content
        content = answer.structured_content
        assert content is not None
        return content["result"] if content.keys() == {"result"} else content

    async def confirms(self, tool: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Make a change as its preview says."""
        preview = await self.asks(tool, **arguments)
        return await self.asks(tool, **arguments, confirm=preview["confirm"])

    async def is_refused(self, tool: str, **arguments: object) -> str:
        answer = await self.result(tool, **arguments)
        assert answer.is_error
        return "".join(getattr(each, "text", "") for each in answer.content)

    async def result(self, tool: str, **arguments: object) -> CallToolResult:
        answer = await self.client.call_tool(tool, arguments)
        assert isinstance(answer, CallToolResult)
        return answer


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Three plants of the form."""
    home = Home(tmp_path)
    home.database.parent.mkdir(parents=True)
    with closing(SqliteStore(home.database)) as store:
        for number, (name, tag) in enumerate((("Aloe vera", "kitchen"), ("Fern", "hall"), ("Basil", "kitchen")), 1):
            store.add(new_plant({"id": number, "name": name, "tag": tag}), FORM).result(SECONDS)
    return home


@pytest.fixture
def store(home: Home) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home.database)) as store:
        yield store


@asynccontextmanager
async def talking(home: Home, *options: str, name: str = "tester") -> AsyncIterator[Assistant]:
    """Talk to the program, which runs with these options."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "plantdesk", "mcp", *options], env=home.environment
    )
    version = Implementation(name=name, version="1")
    async with Client(command, client_info=version, read_timeout_seconds=SECONDS) as client:
        yield Assistant(client)


@pytest.mark.parametrize(
    ("options", "tools"),
    [((), READING), (("--write",), WRITING), (("--write", "--delete"), WRITING | {"delete_plants"})],
)
async def test_only_allowed_tools_are_offered(home: Home, options: tuple[str, ...], tools: set[str]) -> None:
    async with talking(home, *options) as assistant:
        listed = (await assistant.client.list_tools()).tools
        assert {each.name for each in listed} == tools
        assert all(each.description and each.output_schema for each in listed)
        reading = {each.name for each in listed if each.annotations and each.annotations.read_only_hint}
        assert reading == READING


async def test_plants_and_tags_are_found_in_pages(home: Home) -> None:
    async with talking(home) as assistant:
        first = await assistant.asks("search_plants", search="tag:kitchen", limit=1)
        assert [plant["name"] for plant in first["plants"]] == ["Basil"]
        assert (first["total"], first["next_offset"]) == (2, 1)
        last = await assistant.asks("search_plants", search="tag:kitchen", limit=1, offset=1)
        assert ([plant["name"] for plant in last["plants"]], last["next_offset"]) == (["Aloe vera"], None)
        (fern,) = await assistant.asks("get_plants", ids=[2, 77])
        assert (fern["name"], fern["tag"], fern["note"], fern["source"]) == ("Fern", "hall", None, "form")
        assert await assistant.asks("list_tags") == {"hall": 1, "kitchen": 2}
        assert "less than or equal to 200" in await assistant.is_refused("search_plants", search="", limit=201)


async def test_added_plants_are_one_change_that_is_undone(home: Home, store: SqliteStore) -> None:
    async with talking(home, "--write") as assistant:
        plants = [{"name": "Ivy", "tag": "hall", "note": "by the door"}, {"name": "Moss", "id": 40}, {"name": "Mint"}]
        added = await assistant.asks("add_plants", plants=plants)
        assert (added["plants"], added["ids"]) == (3, [4, 40, 5])
        with closing(store.reader()) as reader:
            ivy = reader.rows([4])[4]
        assert (ivy.name, ivy.tag, ivy.note) == ("Ivy", "hall", "by the door")
        assert (str(ivy.source.kind), ivy.source.label) == ("assistant", "assistant tester")
        (change, *_) = await assistant.asks("recent_changes")
        assert (change["number"], change["source"], change["plants"]) == (added["change"], "assistant tester", 3)
        await assistant.confirms("undo_change", number=added["change"])
        assert (await assistant.asks("search_plants", search=""))["total"] == 3
        (change, *_) = await assistant.asks("recent_changes")
        assert change["is_undone"]


async def test_a_change_is_previewed_and_confirmed(home: Home, store: SqliteStore) -> None:
    with closing(store.reader()) as reader:
        store.apply([edited(reader.rows([3])[3], note="in a pot")], FORM).result(SECONDS)
    async with talking(home, "--write") as assistant:
        edit: dict[str, object] = {"search": "tag:kitchen", "texts": {"tag": "windowsill"}}
        preview = await assistant.asks("edit_plants", **edit)
        assert (preview["plants"], preview["change"]) == (2, None)
        assert preview["lines"][1] == "1 “Aloe vera”, tag “kitchen” -> “Aloe vera”, tag “windowsill”"
        assert (await assistant.asks("edit_plants", **edit, confirm=preview["confirm"]))["change"]
        texts = {"name": "Boston fern", "note": "", "tag": ""}
        assert (await assistant.confirms("edit_plants", ids=[2, 2], texts=texts))["change"]
        assert "one plant" in await assistant.is_refused("edit_plants", ids=[1, 3], texts={"name": "Both"})
        merged = await assistant.asks("merge_tags", tags=["windowsill"], into="sill")
        assert merged["lines"] == ["2 of “windowsill” -> “sill”"]
        assert (await assistant.confirms("merge_tags", tags=["windowsill"], into="sill"))["plants"] == 2
        assert (await assistant.asks("merge_tags", tags=["sill"], into="sill"))["confirm"] is None
        assert "no plant has the tag" in (await assistant.is_refused("merge_tags", tags=["x"], into="y")).lower()
    with closing(store.reader()) as reader:
        rows = reader.rows([1, 2, 3])
    assert [(rows[number].name, rows[number].tag, rows[number].note) for number in (1, 2, 3)] == [
        ("Aloe vera", "sill", None),
        ("Boston fern", None, None),
        ("Basil", "sill", "in a pot"),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_plants", {"search": "tag:kitchen", "texts": {"note": "by the window"}}),
        ("delete_plants", {"search": "tag:kitchen"}),
        ("merge_tags", {"tags": ["kitchen"], "into": "hall"}),
    ],
)
async def test_only_the_plants_of_the_preview_are_changed(
    home: Home, store: SqliteStore, tool: str, arguments: dict[str, object]
) -> None:
    """Between preview and confirmation one plant leaves the set, and another one comes in."""
    async with talking(home, "--write", "--delete") as assistant:
        assert "Nothing was changed" in await assistant.is_refused(tool, **arguments, confirm="2")
        preview = await assistant.asks(tool, **arguments)
        with closing(store.reader()) as reader:
            basil, fern = reader.rows([3])[3], reader.rows([2])[2]
        store.apply([edited(basil, tag="hall"), edited(fern, tag="kitchen")], FORM).result(SECONDS)
        assert "Nothing was changed" in await assistant.is_refused(tool, **arguments, confirm=preview["confirm"])
        assert (await assistant.asks("recent_changes"))[0]["source"] == "form"


async def test_plants_are_deleted_only_where_the_user_allows_it(home: Home) -> None:
    async with talking(home, "--write", "--delete") as assistant:
        assert (await assistant.asks("delete_plants", search="tag:kitchen"))["plants"] == 2
        deleted = await assistant.confirms("delete_plants", search="tag:kitchen")
        assert (await assistant.asks("search_plants", search=""))["total"] == 1
        preview = await assistant.asks("undo_change", number=deleted["change"])
        assert preview["lines"][0] == "Undo: Delete 2 plants"
        assert preview["lines"][-1] == "one plant of the change: 1 “Aloe vera”"
        await assistant.confirms("undo_change", number=deleted["change"])
        assert "undone already" in await assistant.is_refused("undo_change", number=deleted["change"])
        assert (await assistant.asks("search_plants", search=""))["total"] == 3


async def test_an_undo_deletes_plants_of_others_only_where_the_user_allows_it(home: Home, store: SqliteStore) -> None:
    store.apply([Insert(plant_fields({"name": text})) for text in ("Ivy", "Moss")], FORM).result(SECONDS)
    async with talking(home, "--write") as assistant:
        number = (await assistant.asks("recent_changes"))[0]["number"]
        assert "without --delete" in await assistant.is_refused("undo_change", number=number)
    async with talking(home, "--write", "--delete") as assistant:
        number = (await assistant.asks("recent_changes"))[0]["number"]
        await assistant.confirms("undo_change", number=number)
        assert (await assistant.asks("search_plants", search=""))["total"] == 3


async def test_one_call_changes_no_more_plants_than_the_user_allows(home: Home) -> None:
    async with talking(home, "--write", "--limit", "2") as assistant:
        for tool, arguments in (
            ("add_plants", {"plants": [{"name": "a"}] * 3}),
            ("edit_plants", {"search": "id:1-9", "texts": {"tag": "x"}}),
            ("edit_plants", {"ids": [1, 2, 3], "texts": {"tag": "x"}}),
        ):
            assert "3 plants are more than the 2" in await assistant.is_refused(tool, **arguments)
        changed = await assistant.confirms("edit_plants", ids=[1, 2], texts={"tag": "x"})
        assert changed["plants"] == 2
        assert "more than the 2" in await assistant.is_refused("merge_tags", tags=["x", "kitchen"], into="y")
    async with talking(home, "--write", "--limit", "1") as assistant:
        number = (await assistant.asks("recent_changes"))[0]["number"]
        assert "more than the 1" in await assistant.is_refused("undo_change", number=number)


async def test_failures_are_sentences(home: Home) -> None:
    async with talking(home, "--write") as assistant:
        assert "ID 2 already belongs to “Fern”" in await assistant.is_refused(
            "add_plants", plants=[{"name": "Ivy"}, {"name": "Moss", "id": 2}]
        )
        assert "The name is missing." in await assistant.is_refused("add_plants", plants=[{"name": " "}])
        assert "There is no plant with ID 9" in await assistant.is_refused("edit_plants", ids=[9], texts={"tag": "x"})
        assert "either ids or a search" in await assistant.is_refused("edit_plants", texts={"tag": "x"})
        assert "must not be empty" in await assistant.is_refused("edit_plants", search="", texts={"tag": "x"})
        assert "There is no change 99 in" in await assistant.is_refused("undo_change", number=99)
        assert "valid integer" in await assistant.is_refused("get_plants", ids=["2"])
        assert "valid integer" in await assistant.is_refused("undo_change", number=True)
        assert "less than or equal" in await assistant.is_refused("search_plants", search="", offset=2**70)
        assert "Field required" in await assistant.is_refused("search_plants", query="fern")
        assert "not permitted" in await assistant.is_refused("edit_plants", ids=[1], texts={"tags": "x"})
        assert "pattern" in await assistant.is_refused("merge_tags", tags=["hall"], into=" ")
        assert "not permitted" in await assistant.is_refused("search_plants", search="", tag="hall")
        assert (await assistant.asks("search_plants", search=""))["total"] == 3
        assert (await assistant.asks("list_tags", offset=2**53)) == {}


@pytest.mark.parametrize("name", ["null", "12", '["x"]', '{"a":1}'])
async def test_a_search_that_looks_like_json_is_text(home: Home, store: SqliteStore, name: str) -> None:
    store.add(new_plant({"id": 9, "name": name}), FORM).result(SECONDS)
    async with talking(home, "--write") as assistant:
        changed = await assistant.confirms("edit_plants", search=name, texts={"tag": "odd"})
        assert changed["plants"] == 1
        assert (await assistant.asks("search_plants", search="tag:odd"))["plants"][0]["id"] == 9


async def test_a_text_of_several_lines_is_returned_whole_and_forges_no_line_of_a_preview(
    home: Home, store: SqliteStore
) -> None:
    name = "Fern\n99 “Aloe vera”"
    store.add(new_plant({"id": 9, "name": name}), FORM).result(SECONDS)
    async with talking(home, "--write") as assistant:
        assert [each["name"] for each in await assistant.asks("get_plants", ids=[9])] == [name]
        preview = await assistant.asks("edit_plants", ids=[9], texts={"tag": "x"})
        assert preview["lines"] == ["9 “Fern 99 “Aloe vera””, no tag -> “Fern 99 “Aloe vera””, tag “x”"]


async def test_two_assistants_and_a_user_add_at_once(home: Home, store: SqliteStore) -> None:
    async def adds(name: str) -> None:
        async with talking(home, "--write", name=name) as assistant:
            for number in range(10):
                await assistant.asks("add_plants", plants=[{"name": f"{name} {number}"}] * 5)

    assistants = asyncio.gather(adds("one"), adds("two"))
    number = 0
    while not assistants.done():
        await asyncio.wrap_future(store.add_as_next(plant_fields({"name": f"user {number}"}), FORM))
        number += 1
    await assistants
    with closing(store.reader()) as reader:
        found = Counter(row.name.split()[0] for row in reader.selected(Selection()))
    assert (found["one"], found["two"], found["user"]) == (50, 50, number)


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "killed", "version": "1"}}


@pytest.mark.parametrize("grown", range(3))
def test_a_kill_leaves_all_plants_of_a_call_or_none(home: Home, store: SqliteStore, grown: int) -> None:
    """The program is killed as soon as its log has grown so many times."""
    log = home.database.with_name("plants.db-wal")
    plants = [{"name": f"Plant {number}", "note": "x" * 500} for number in range(1000)]
    command = [sys.executable, "-m", "plantdesk", "mcp", "--write"]
    with subprocess.Popen(
        command, env=home.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(**message: object) -> None:
            assert process.stdin is not None
            print(json.dumps({"jsonrpc": "2.0", **message}), file=process.stdin, flush=True)

        send(id=1, method="initialize", params=_HELLO)
        process.stdout.readline()
        send(method="notifications/initialized")
        size = log.stat().st_size
        send(id=2, method="tools/call", params={"name": "add_plants", "arguments": {"plants": plants}})
        for _ in range(grown + 1):
            while log.stat().st_size == size and not select.select([process.stdout], [], [], 0)[0]:
                pass
            size = log.stat().st_size
        process.kill()
    with closing(store.reader()) as reader:
        assert reader.count() in {3, 1003}
    store.add(new_plant({"id": 5000, "name": "after"}), FORM).result(SECONDS)


@pytest.mark.network
@pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed")
def test_the_inspector_finds_a_plant(home: Home) -> None:
    """The Inspector of the protocol is another implementation; it runs the program as a client does."""
    command = ["npx", "-y", "@modelcontextprotocol/inspector", "--cli", sys.executable, "-m", "plantdesk", "mcp"]
    call = ["--method", "tools/call", "--tool-name", "search_plants", "--tool-arg", "search=fern"]
    done = subprocess.run([*command, *call], env=home.environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["structuredContent"]["plants"][0]["name"] == "Fern"
