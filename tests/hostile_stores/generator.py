"""Files that a stranger may hand over as a plant store: each function makes one at `path`, in a folder of its own.

`victim` is a file of the user that nothing may touch.
"""

import os
import socket
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from plantdesk.store.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION, apply_steps
from tests.support.adding import store_at

#: Makes a file at a path, beside the victim.
Make = Callable[[Path, Path], object]

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"

_PLANT = "INSERT INTO plant (id, name, tag, seq, added_at, source_id) VALUES (1, 'Fern', 'office', 1, 10000, 1)"
_SEARCHED_PLANT = """INSERT INTO plant (id, name, tag, seq, added_at, source_id, searched_name, searched_tag)
                     VALUES (1, 'Fern', 'office', 1, 10000, 1, 'fern', 'office')"""
#: The version from which on each row has its texts as they are searched.
_SEARCHED = 8


def store(path: Path, *statements: str, version: int = SCHEMA_VERSION) -> None:
    """Make a store of `version` with one plant, and change it as any program can."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        apply_steps(database, 0, version)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {version}")
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(_PLANT if version < _SEARCHED else _SEARCHED_PLANT)
        for statement in statements:
            database.execute(statement)


def changed(*statements: str, version: int = SCHEMA_VERSION) -> Make:
    return lambda path, _victim: store(path, *statements, version=version)


def beside(name: str, make: Make, mode: str = "DELETE") -> Make:
    """A store in rollback mode, as each backup is, or in WAL mode, and what `make` puts beside it; {} is its name."""

    def made(path: Path, victim: Path) -> None:
        store(path, f"PRAGMA journal_mode = {mode}")
        make(path.with_name(name.format(path.name)), victim)

    return made


def hot_journal(path: Path, victim: Path) -> None:
    """A rollback journal that names a super-journal: SQLite deletes the file of that name when it rolls back."""
    store(path)
    page = 4096
    pages, first = path.stat().st_size // page, path.read_bytes()[:page]
    head = (_MAGIC + struct.pack(">IIIII", 1, 0, pages, 512, page)).ljust(512, b"\0")
    checksum = sum(first[index] for index in range(page - 200, 0, -200)) & 0xFFFFFFFF
    record = struct.pack(">I", 1) + first + struct.pack(">I", checksum)
    name = str(victim).encode()
    name_sum = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    tail = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), name_sum) + _MAGIC
    path.with_name(f"{path.name}-journal").write_bytes(head + record + tail)


def linked_backups(path: Path, victim: Path) -> None:
    """The folder of backups is another one of the user, with files named like temporary ones, or links."""
    store(path)
    temporary = victim.with_name(".plantdesk-my notes.new")
    temporary.write_text("my only notes")
    os.utime(temporary, (0, 0))
    path.with_name(f"{path.name}-backups").symlink_to(victim.parent)
    victim.with_name(f"{path.name}-20200101-000000-000-1-auto.db").symlink_to(victim)


def pipe(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, _victim: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def folder(path: Path, _victim: Path) -> None:
    path.mkdir()


def link_loop(path: Path, _victim: Path) -> None:
    path.symlink_to(path)


def link_to_victim(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def link_to_folder(path: Path, victim: Path) -> None:
    path.symlink_to(victim.parent)


def hard_link_to_victim(path: Path, victim: Path) -> None:
    os.link(victim, path)


def hard_link(path: Path, _victim: Path) -> None:
    store(path)
    os.link(path, path.with_name("second name.db"))


def content(data: bytes) -> Make:
    return lambda path, _victim: path.write_bytes(data)


def hostile_log(path: Path, _victim: Path) -> None:
    """The trigger is in the log, the file itself is fine."""
    store_at(path, "Fern")
    keeping = sqlite3.connect(path, isolation_level=None)
    keeping.execute("PRAGMA wal_autocheckpoint = 0")
    keeping.execute("CREATE TRIGGER evil AFTER INSERT ON plant BEGIN DELETE FROM plant; END")
    log = path.with_name(f"{path.name}-wal").read_bytes()
    main = path.read_bytes()
    keeping.close()
    path.write_bytes(main)
    path.with_name(f"{path.name}-wal").write_bytes(log)


def open_to_all(path: Path, _victim: Path) -> None:
    store(path)
    path.chmod(0o666)


def other_database(path: Path, _victim: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)")


def header_only(path: Path, _victim: Path) -> None:
    store(path)
    path.write_bytes(path.read_bytes()[:100])


#: Files that must be refused everywhere, with nothing changed.
REFUSED: dict[str, Make] = {
    "hot journal": hot_journal,
    "linked journal": beside("{}-journal", link_to_victim),
    **{f"pipe as {ending}": beside("{}" + ending, pipe, "WAL") for ending in ("-journal", "-wal", "-shm")},
    "pipe": pipe,
    "socket": unix_socket,
    "folder": folder,
    "link loop": link_loop,
    "link to a text": link_to_victim,
    "hard link": hard_link,
    "text": content(b"my diary, no database at all" * 100),
    "zeros": content(bytes(8192)),
    "header and no page": header_only,
    "other database": other_database,
    "newer": changed(f"PRAGMA user_version = {SCHEMA_VERSION + 1}"),
    "far newer": changed("PRAGMA user_version = 2147483647"),
    "version 0": changed("PRAGMA user_version = 0"),
    "trigger on tokens": changed(
        "CREATE TRIGGER evil AFTER UPDATE OF revoked_at ON token BEGIN UPDATE token SET revoked_at = NULL; END"
    ),
    "trigger on plants": changed(
        "CREATE TRIGGER evil AFTER INSERT ON plant BEGIN UPDATE plant SET name = 'evil' WHERE id = NEW.id; END"
    ),
    "view for plants": changed(
        "ALTER TABLE plant RENAME TO hidden",
        f"""CREATE VIEW plant AS {_ENDLESS} i AS id, 'x' AS name, NULL AS tag, i AS seq, 0 AS added_at,
            1 AS source_id, 'x' AS searched_name FROM n""",
    ),
    "view for sources": changed(
        "ALTER TABLE source RENAME TO hidden",
        f"CREATE VIEW source AS {_ENDLESS} i AS id, 'form' AS kind, '' AS label FROM n",
    ),
    "extra view": changed(f"CREATE VIEW evil AS {_ENDLESS} i FROM n"),
    "virtual table": changed("CREATE VIRTUAL TABLE evil USING fts5(x)"),
    "extra table": changed("CREATE TABLE evil (x)"),
    "generated column": changed("ALTER TABLE plant ADD COLUMN evil TEXT AS (upper(name))"),
    "extra column": changed("ALTER TABLE plant ADD COLUMN evil TEXT"),
    "missing column": changed("ALTER TABLE plant DROP COLUMN searched_note"),
    "missing table": changed("DROP TABLE token"),
    "missing index": changed("DROP INDEX token_name"),
    "unique index": changed("CREATE UNIQUE INDEX evil ON plant (name)"),
    "index on an expression": changed("CREATE INDEX evil ON plant (length(zeroblob(length(name) * 1000)))"),
    "partial index": changed("CREATE INDEX evil ON plant (name) WHERE length(name) > 3"),
    "check that never ends": changed(
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, 'tag TEXT,', 'tag TEXT CHECK (1),') WHERE name = 'plant'",
    ),
    "no STRICT": changed(
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'plant'",
    ),
    "hostile log": hostile_log,
}

#: Stores whose schema is right, but not one row: nothing may be taken from them.
BAD_ROWS: dict[str, Make] = {
    "kind of source": changed("INSERT INTO source VALUES (7, 'evil', '')", version=2),
    "source is no text": changed("INSERT INTO source VALUES (7, x'00', '')", version=2),
    "source not Unicode": changed("INSERT INTO source VALUES (7, 'form', CAST(x'ff' AS TEXT), '')"),
    "name is a blob": changed("UPDATE plant SET name = x'0102'", version=2),
    "name is a number": changed("UPDATE plant SET name = x'31', tag = 7.5", version=1),
    "name not Unicode": changed("UPDATE plant SET name = CAST(x'41ff42' AS TEXT)"),
    "name not Unicode after NUL": changed("UPDATE plant SET name = CAST(x'4100ff' AS TEXT)"),
    "surrogate": changed("UPDATE plant SET name = CAST(x'eda080' AS TEXT)"),
    "huge name": changed("UPDATE plant SET name = CAST(zeroblob(2000000) AS TEXT)"),
    "tag is a blob": changed("UPDATE plant SET tag = x'0102'", version=2),
    "time is text": changed("UPDATE plant SET added_at = 'yesterday'", version=2),
    "time at the end": changed("UPDATE plant SET added_at = 9223372036854775807", version=2),
    "order is text": changed("UPDATE plant SET seq = 'first'", version=2),
    "time is text, no tag": changed("UPDATE plant SET tag = NULL, added_at = 'yesterday'", version=2),
    "source is named": changed("UPDATE plant SET source_id = 'evil'", version=2),
    "no source": changed("PRAGMA foreign_keys = OFF", "UPDATE plant SET source_id = 99"),
}

#: Odd, but every row can be taken over.
HARMLESS: dict[str, Make] = {
    "plain index in lower case": changed("create index own on plant (name collate nocase, tag desc)"),
    "plain index": changed("CREATE INDEX own ON plant (name COLLATE NOCASE, tag DESC)"),
    "analyzed": changed("ANALYZE"),
    "order at the end": changed("UPDATE plant SET seq = 9223372036854775807", version=2),
    "order below zero": changed("UPDATE plant SET seq = -5", version=2),
    "searched text that lies": changed("UPDATE plant SET searched_name = 'cactus'"),
    "random log": beside("{}-wal", content(b"\x5a" * 40_000), "WAL"),
    "first version": changed(version=1),
    "all rights": open_to_all,
    "WAL without log": changed("PRAGMA journal_mode = WAL"),
    "token of odd types": changed(
        "INSERT INTO token VALUES (1, x'41', zeroblob(32), 'x', 'then', 'never', NULL, x'00', 'many')", version=2
    ),
    "tokens of one name": changed(
        "INSERT INTO token VALUES (1, 'A', zeroblob(32), 1, 0, NULL, NULL, 0, 'old')",
        "INSERT INTO token VALUES (2, x'41', randomblob(32), 1, 0, NULL, NULL, 0, 'old')",
        version=2,
    ),
    "token of the far future": changed(
        "INSERT INTO token VALUES (1, 'A', zeroblob(32), 1, 9223372036854775807, 9223372036854775807, NULL, -9e18, -5)",
        version=2,
    ),
    "valid token of somebody else": changed(
        "INSERT INTO source VALUES (9, 'token', 'theirs', 'theirs')",
        """INSERT INTO token (name, digest, source_id, created_at, plants_added)
           VALUES ('theirs', zeroblob(32), 9, 0, 0)""",
    ),
}

_CHANGE = "INSERT INTO change (number, made_at, source_id, kind, parameters, plants, undoes, undone, size) VALUES"
_IMAGE = "INSERT INTO before_image VALUES"
_EDIT = f"{_CHANGE} (1, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)"
_TOUCHED = "UPDATE plant SET change = 1"
_FAR = 2**63 - 1


def edited(image: str, *others: str) -> Make:
    """A store whose only plant was edited by change 1; `image` is what comes after the key of its before-image."""
    return changed(_EDIT, _TOUCHED, f"{_IMAGE} (1, 1, 1, {image})", *others)


_FINE = "'Old', NULL, NULL, 1, 10000, 1, 0, 'old', NULL, NULL"

#: Stores whose history no PlantDesk has written; the plant itself is right.
BAD_HISTORIES: dict[str, Make] = {
    "right": edited(_FINE),
    "number at the end": changed(f"{_CHANGE} ({_FAR}, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)"),
    "number near the end": changed(f"{_CHANGE} ({2**62}, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)"),
    "number below zero": changed(f"{_CHANGE} (-7, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)"),
    "numbers with gaps": edited(_FINE, f"{_CHANGE} (4000000000, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)"),
    "image without an entry": edited(_FINE, f"{_IMAGE} (2, 1, NULL, {_FINE})", f"{_IMAGE} (3, 1, 3, {_FINE})"),
    "image at the end": edited(_FINE, f"{_IMAGE} ({_FAR}, 1, NULL, {_FINE})"),
    "image below zero": edited(_FINE, f"{_IMAGE} (-9, 1, NULL, {_FINE})"),
    "entry without images": changed(_EDIT, "UPDATE change SET plants = 5"),
    "undoes itself": edited(_FINE, "UPDATE change SET undoes = 1, kind = 'undo'"),
    "undoes a later one": edited(
        _FINE,
        f"{_CHANGE} (2, 0, 1, 'undo', '{{}}', 1, 1, 0, 99)",
        "UPDATE change SET undoes = 2, kind = 'undo' WHERE number = 1",
    ),
    "undoes nothing": edited(_FINE, "UPDATE change SET undoes = 77, kind = 'undo'"),
    "undone 7": edited(_FINE, "UPDATE change SET undone = 7"),
    "long chain": changed(
        f"{_CHANGE} (1, 0, 1, 'edit', '{{}}', 1, NULL, 0, 99)",
        *(f"{_CHANGE} ({number}, 0, 1, 'undo', '{{}}', 1, {number - 1}, 0, 9)" for number in range(2, 3000)),
        "UPDATE plant SET change = 2999",
        f"{_IMAGE} (2999, 1, 2999, {_FINE})",
    ),
    "unknown kind": edited(_FINE, "UPDATE change SET kind = 'evil'"),
    "unknown source": edited(_FINE, "PRAGMA foreign_keys = OFF", "UPDATE change SET source_id = 99"),
    "terrible title": edited(
        _FINE, "UPDATE change SET parameters = json_object('title', char(27) || '[2J<b>' || char(10) || char(8238))"
    ),
    "huge parameters": edited(_FINE, "UPDATE change SET parameters = CAST(zeroblob(2000000) AS TEXT)"),
    "huge name": edited(_FINE, "UPDATE change SET parameters = json_object('name', printf('%2000000d', 1))"),
    "parameters not Unicode": edited(_FINE, "UPDATE change SET parameters = CAST(x'ff' AS TEXT)"),
    "infinite parameters": edited(_FINE, 'UPDATE change SET parameters = \'{"x": 1e999, "y": NaN}\''),
    "deep parameters": edited(_FINE, "UPDATE change SET parameters = printf('%.*c', 100000, '[')"),
    "parameters of other types": edited(
        _FINE, 'UPDATE change SET kind = \'merge\', parameters = \'{"tags": [1, null, {}], "tag": [], "name": 7}\''
    ),
    "undo of nothing": edited(_FINE, "UPDATE change SET kind = 'undo', parameters = '{\"of\": [3]}'"),
    "undo of an undo": edited(
        _FINE,
        'UPDATE change SET kind = \'undo\', parameters = \'{"of": {"kind": "undo", "parameters": 1, "plants": true}}\'',
    ),
    "time at the end": edited(_FINE, "UPDATE change SET made_at = 9223372036854775807"),
    "time at the start": edited(_FINE, "UPDATE change SET made_at = -9223372036854775807"),
    "plants below zero": edited(_FINE, "UPDATE change SET plants = -5"),
    "plants at the end": edited(_FINE, "UPDATE change SET plants = 9223372036854775807"),
    "size below zero": edited(_FINE, "UPDATE change SET size = -5"),
    "sizes at the end": edited(
        _FINE,
        "UPDATE change SET size = 9223372036854775807",
        f"{_CHANGE} (2, 0, 1, 'edit', 'Edit', 0, NULL, 0, {_FAR})",
    ),
    "image without a name": edited("NULL, NULL, NULL, 1, 10000, 1, 0, 'old', NULL, NULL"),
    "image without an order": edited("'Old', NULL, NULL, NULL, 10000, 1, 0, 'old', NULL, NULL"),
    "image without a time": edited("'Old', NULL, NULL, 1, NULL, 1, 0, 'old', NULL, NULL"),
    "image without a source": edited("'Old', NULL, NULL, 1, 10000, NULL, 0, 'old', NULL, NULL"),
    "image without a version": edited("'Old', NULL, NULL, 1, 10000, 1, NULL, 'old', NULL, NULL"),
    "image of an unknown source": edited("'Old', NULL, NULL, 1, 10000, 99, 0, 'old', NULL, NULL"),
    "image of year 300,000": edited(f"'Old', NULL, NULL, 1, {_FAR}, 1, 0, 'old', NULL, NULL"),
    "image at the end of the order": edited(f"'Old', NULL, NULL, {_FAR}, 10000, 1, 0, 'old', NULL, NULL"),
    "image before the order": edited("'Old', NULL, NULL, -3, 10000, 1, 0, 'old', NULL, NULL"),
    "image of a later change": edited(f"'Old', NULL, NULL, 1, 10000, 1, {_FAR}, 'old', NULL, NULL"),
    "image below all changes": edited("'Old', NULL, NULL, 1, 10000, 1, -3, 'old', NULL, NULL"),
    "image not Unicode": edited("CAST(x'ff' AS TEXT), NULL, CAST(x'ff' AS TEXT), 1, 10000, 1, 0, 'old', NULL, NULL"),
    "huge image": edited("CAST(zeroblob(3000000) AS TEXT), NULL, NULL, 1, 10000, 1, 0, 'old', NULL, NULL"),
    "images with one place": edited(
        "'Old', NULL, NULL, 5, 10000, 1, 0, 'old', NULL, NULL",
        "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id, change) VALUES (2, '', '', 2, 0, 1, 1)",
        "INSERT INTO plant (id, name, searched_name, seq, added_at, source_id, change) VALUES (3, '', '', 5, 0, 1, 0)",
        f"{_IMAGE} (1, 2, 1, 'Old', NULL, NULL, 5, 10000, 1, 0, 'old', NULL, NULL)",
    ),
    "change of nothing": changed("UPDATE plant SET change = 4000"),
    "change at the end": changed("UPDATE plant SET change = 9223372036854775807"),
    "change below zero": changed("UPDATE plant SET change = -9223372036854775807"),
    "long note": changed("UPDATE plant SET note = CAST(zeroblob(300000) AS TEXT)"),
    "note not Unicode": changed("UPDATE plant SET note = CAST(x'ff' AS TEXT)"),
    "order at its end": changed("UPDATE plant SET seq = 4611686018427387904"),
    "last place at its end": changed("UPDATE store SET last_seq = 9223372036854775807"),
    "last place near its end": changed("UPDATE store SET last_seq = 4611686018427387903"),
    "last place below zero": changed("UPDATE store SET last_seq = -9223372036854775807"),
    "last id at the end": changed("UPDATE store SET last_id = 9223372036854775807"),
    "commits at the end": changed("UPDATE store SET other_commits = 9223372036854775807"),
    "no row about the store": changed("DELETE FROM store"),
}

#: Something beside a store that is right: the store may be opened or refused, but what it points to is not touched.
SIDE_FILES: dict[str, Make] = {
    "linked log": beside("{}-wal", link_to_victim),
    "linked index": beside("{}-shm", link_to_victim),
    "linked log of a store in WAL mode": beside("{}-wal", link_to_victim, "WAL"),
    "linked index of a store in WAL mode": beside("{}-shm", link_to_victim, "WAL"),
    "log linked to a folder": beside("{}-wal", link_to_folder),
    "index linked to a folder": beside("{}-shm", link_to_folder),
    "hard-linked log": beside("{}-wal", hard_link_to_victim),
    "hard-linked index": beside("{}-shm", hard_link_to_victim),
    "hard-linked journal": beside("{}-journal", hard_link_to_victim),
    "linked folder of backups": linked_backups,
    "linked lock": beside(".{}.lock", link_to_victim),
    "hard-linked lock": beside(".{}.lock", hard_link_to_victim),
}
