"""Hostile and defective clients: many connections at a time, in their own process.

    python -m tests.support.attackers PORT CONNECTIONS < TOKEN

Each connection is used for one attack, then another is opened in its place. Once each attack was made, prints a line,
and ends when standard input, whose first line is the token, is closed. Then prints, as JSON, how often each attack was
made and what was answered to it: the number of an Error body, 200, "closed" where nothing was said, or "WRONG: …".
"""

import asyncio
import contextlib
import io
import itertools
import json
import random
import socket
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator

from tests.api.client import answer_in

_RESET = struct.pack("ii", 1, 0)
_GIGABYTE = 1 << 30
_ids = itertools.count(-1, -1)


class Target:
    """The server to attack; builds heads of requests."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.token = token

    def head(self, *lines: str, method: str = "POST", target: str = "/plants") -> bytes:
        fields = ["Host: localhost", f"Authorization: Bearer {self.token}", "Content-Type: application/json", *lines]
        return "\r\n".join([f"{method} {target} HTTP/1.1", *fields, "", ""]).encode()

    def plant(self, *lines: str, name: str = "Fern", token: str | None = None) -> bytes:
        body = json.dumps({"id": next(_ids), "name": name}, ensure_ascii=False).encode()
        request = self.head(f"Content-Length: {len(body)}", *lines) + body
        return request if token is None else request.replace(self.token.encode(), token.encode())


# --- what is sent ------------------------------------------------------------------------------------------------


def idle(_: Target) -> Iterator[bytes]:
    """Connect and send nothing."""
    yield b""


def dribbled_head(target: Target) -> Iterator[bytes]:
    """Send a head byte by byte (slowloris)."""
    for byte in target.head("X: " + "x" * 10_000):
        yield bytes([byte])
        yield b""


def dribbled_body(target: Target) -> Iterator[bytes]:
    """Send a body byte by byte."""
    yield target.head("Content-Length: 10000")
    for _ in range(10_000):
        yield b" "
        yield b""


def almost_whole_body(target: Target) -> Iterator[bytes]:
    """Send a body of 1 MiB without its last byte, and wait."""
    yield target.head("Content-Length: 1048576")
    yield b" " * 1_048_575
    yield b""


def header_flood(target: Target) -> Iterator[bytes]:
    """Send the largest number of fields, one of them twice."""
    lines = [f"{number:x}:" for number in range(8_000)]
    yield target.head(*lines, lines[0], method="GET", target="/nowhere")


def endless_head(target: Target) -> Iterator[bytes]:
    """Send an endless head."""
    yield target.head()[:-2] + b"X: "
    while True:
        yield b"x" * 16_384


def announced_gigabyte(target: Target) -> Iterator[bytes]:
    """Send 1 GB with a Content-Length."""
    yield target.head(f"Content-Length: {_GIGABYTE}")
    yield from itertools.repeat(b" " * 65_536, _GIGABYTE // 65_536)


def chunked_gigabyte(target: Target) -> Iterator[bytes]:
    """Send 1 GB in chunks."""
    yield target.head("Transfer-Encoding: chunked")
    yield from itertools.repeat(b"10000\r\n" + b" " * 65_536 + b"\r\n", _GIGABYTE // 65_536)


def tiny_chunks(target: Target) -> Iterator[bytes]:
    """Send a body of 1 MiB in chunks of one byte."""
    yield target.head("Transfer-Encoding: chunked")
    yield from itertools.repeat(b"1\r\n \r\n" * 2_000, 525)


def foreign_gigabyte(target: Target) -> Iterator[bytes]:
    """Send 1 GB without a token."""
    yield target.head(f"Content-Length: {_GIGABYTE}").replace(target.token.encode(), b"wrong")
    yield from itertools.repeat(b" " * 65_536, _GIGABYTE // 65_536)


def bad_chunks(target: Target) -> Iterator[bytes]:
    """Send malformed chunks."""
    chunk = random.choice([b"zz\r\n", b"-1\r\n", b"5\nhello", b"FFFFFFFFFFFFFFFFFFFF\r\n", b"2\r\n{}}\r\n", b"\r\n"])
    yield target.head("Transfer-Encoding: chunked") + chunk


def smuggled(target: Target) -> Iterator[bytes]:
    """Frame a body in two contradictory ways (request smuggling)."""
    yield target.head(*random.choice(SMUGGLING)) + b"0\r\n\r\n" + target.plant(name="smuggled")


def pipelined(target: Target) -> Iterator[bytes]:
    """Pipeline a thousand requests and read the responses."""
    yield target.head(method="GET", target="/nowhere") * 999 + target.plant("Connection: close")


def pipelined_and_unread(target: Target) -> Iterator[bytes]:
    """Send requests without end and read no response."""
    while True:
        yield target.head(method="GET", target="/openapi.json") * 50


def half_closed(target: Target) -> Iterator[bytes]:
    """Shut down writing in the middle of a request."""
    request = target.plant()
    yield request[: random.randrange(1, len(request))]


def rubbish(_: Target) -> Iterator[bytes]:
    """Send bytes that are not HTTP."""
    yield random.randbytes(random.randrange(1, 3_000)) + b"\r\n\r\n"


def vanishing(target: Target) -> Iterator[bytes]:
    """Send a request or a part of it, and reset the connection."""
    request = target.plant() + target.head("Expect: 100-continue", "Content-Length: 9")
    yield request[: random.randrange(len(request))]


def wrong_token(target: Target) -> Iterator[bytes]:
    """Guess a token."""
    yield target.plant("Connection: close", token=f"plantdesk_{random.randbytes(16).hex()}")


def large_plant(target: Target) -> Iterator[bytes]:
    """Add the largest plant, in letters that are slow to fold."""
    yield target.plant("Connection: close", name="é\u0327\u0301" * 170_000)


def costly_json(target: Target) -> Iterator[bytes]:
    """Send the largest number of numbers and objects in a body."""
    body = b'{"x":[' + b",".join([random.choice([b"1.1", b"{}", b"[]", b'""'])] * 250_000) + b"]}"
    yield target.head(f"Content-Length: {len(body)}", "Connection: close") + body


SMUGGLING = (
    ("Content-Length: 5", "Transfer-Encoding: chunked"),
    ("Transfer-Encoding: chunked", "Content-Length: 5"),
    ("Content-Length: 5", "Content-Length: 6"),
    ("Content-Length: 5, 6",),
    ("Content-Length: +5",),
    ("Content-Length: 0x5",),
    ("Content-Length: 5 5",),
    ("Transfer-Encoding: identity, chunked", "Content-Length: 5"),
    ("Transfer-Encoding: xchunked",),
    ("Transfer-Encoding: chunked, identity",),
    ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    ("Transfer-Encoding : chunked",),
    ("Transfer-Encoding:\x0bchunked",),
    ("X: y\nTransfer-Encoding: chunked",),
    (" Transfer-Encoding: chunked",),
)

_SLOW = (idle, dribbled_head, dribbled_body, almost_whole_body, header_flood, endless_head)
_LARGE = (announced_gigabyte, chunked_gigabyte, tiny_chunks, foreign_gigabyte)
_WRONG = (bad_chunks, smuggled, pipelined, pipelined_and_unread, half_closed, rubbish, vanishing, wrong_token)
_RIGHTFUL = (large_plant, costly_json)
ATTACKS: dict[str, Callable[[Target], Iterator[bytes]]] = {
    attack.__name__: attack for attack in (*_SLOW, *_LARGE, *_WRONG, *_RIGHTFUL)
}


# --- sending it --------------------------------------------------------------------------------------------------


async def _attack_once(target: Target, name: str) -> list[str]:
    """Make one attack; return the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(_send(writer, ATTACKS[name](target)))
            if name == "pipelined_and_unread":
                await sending
            answered = group.create_task(_read(reader))
            if name == "vanishing":
                await sending
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                writer.transport.abort()
            elif name in {"half_closed", "rubbish", "bad_chunks", "smuggled", "header_flood"}:
                await sending
                with contextlib.suppress(OSError):
                    writer.write_eof()
            await answered
            sending.cancel()
    finally:
        writer.transport.abort()
    return _describe_responses(answered.result())


async def _send(writer: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
    with contextlib.suppress(OSError):
        for piece in pieces:
            if piece:
                writer.write(piece)
                await writer.drain()
            else:
                await asyncio.sleep(0.1)


async def _read(reader: asyncio.StreamReader) -> bytes:
    received = b""
    with contextlib.suppress(OSError):
        while piece := await reader.read(65_536):
            received += piece
    return received


def _describe_responses(received: bytes) -> list[str]:
    stream, found = io.BytesIO(received), []
    while stream.tell() < len(received):
        try:
            answer = answer_in(stream)
            found.append("200" if answer.status in {200, 100} else str(int(answer.number)))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the answer is to be responses
            return [*found, f"WRONG: {error!r} in {received[-200:]!r}"]
    return found or ["closed"]


async def attack(target: Target, connections: int) -> dict[str, Counter[str]]:
    """Attack until each attack was made and standard input ends; return the responses by attack."""
    responses: dict[str, Counter[str]] = defaultdict(Counter)
    attacked = {name: asyncio.Event() for name in ATTACKS}

    async def repeat(name: str) -> None:
        while True:
            try:
                responses[name].update(await _attack_once(target, name))
            except OSError:
                responses[name]["closed"] += 1
            attacked[name].set()

    async with _cancel_at_end(repeat(name) for name in itertools.islice(itertools.cycle(ATTACKS), connections)):
        for event in attacked.values():
            await event.wait()
        print("each attack was made", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    return responses


@contextlib.asynccontextmanager
async def _cancel_at_end(running: Iterator[object]) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(coroutine) for coroutine in running]  # type: ignore[call-overload]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    """Parse the arguments, attack, and print the responses."""
    port, connections = map(int, sys.argv[1:])
    print(json.dumps(asyncio.run(attack(Target(port, sys.stdin.readline().strip()), connections))))


if __name__ == "__main__":
    main()
