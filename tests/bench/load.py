"""A load client in a process of its own: sends prepared requests for some seconds and prints one JSON line.

Usage: python -m bench.load ADDRESS METHOD REQUESTS_FILE CONCURRENCY SECONDS

The file holds requests one after the other, each behind its length as four bytes. Messages travel as bytes in both
directions, so that the client's own cost is the same whatever the server does.
"""

from __future__ import annotations

import asyncio
import json
import struct
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import grpc.aio
import uvloop

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = struct.Struct(">I")


def pack(requests: list[bytes]) -> bytes:
    """Return requests in the form of the file."""
    return b"".join(LENGTH.pack(len(item)) + item for item in requests)


def unpack(data: bytes) -> list[bytes]:
    """Return the requests of a file."""
    found, place = [], 0
    while place < len(data):
        (size,) = LENGTH.unpack_from(data, place)
        place += LENGTH.size
        found.append(data[place : place + size])
        place += size
    return found


async def measure(
    address: str, method: str, requests: list[bytes], concurrency: int, seconds: float
) -> dict[str, float]:
    """Return calls, calls/s and latency percentiles (ms); a failed call ends the measurement with its error."""
    async with grpc.aio.insecure_channel(address) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            method, request_serializer=None, response_deserializer=None
        )
        turn = cycle(requests)
        await asyncio.gather(*(_until(call, turn, time.perf_counter() + seconds / 4, []) for _ in range(concurrency)))
        started = time.perf_counter()
        taken: list[float] = []
        await asyncio.gather(*(_until(call, turn, started + seconds, taken) for _ in range(concurrency)))
        wall_s = time.perf_counter() - started
    taken.sort()
    return {
        "calls": len(taken),
        "calls_per_s": len(taken) / wall_s,
        "p50_ms": 1000 * taken[len(taken) // 2],
        "p99_ms": 1000 * taken[int(len(taken) * 0.99)],
    }


async def _until(
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes], turn: Iterator[bytes], end_s: float, taken: list[float]
) -> None:
    while (before := time.perf_counter()) < end_s:
        await call(next(turn))
        taken.append(time.perf_counter() - before)


def main() -> None:
    """Measure as the command line says."""
    address, method, file, concurrency, seconds = sys.argv[1:]
    requests = unpack(Path(file).read_bytes())
    found = uvloop.run(measure(address, method, requests, int(concurrency), float(seconds)))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
