"""Planning against a bare echo (repeated), against the floor (computed anew), and against itself on a smaller store."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench.load import pack
from bench.servers import recorded_reply
from builders_arrow import LEVELS, a_bulk_table

from tonnage.client import IngestClient
from tonnage.v1 import planning_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
METHOD = "/tonnage.v1.PlanningService/PlanCapacity"
CONCURRENCY = 8
DISTINCT = 1000
ROWS_AT_ONCE = 100_000
Figures = dict[str, list[float]]


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """Run a server of this project and yield its address."""
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stdout is not None
            yield json.loads(running.stdout.readline())["address"]
        finally:
            running.terminate()


def requests() -> Iterator[bytes]:
    """Yield requests of one configuration and one SLO that differ in their demand."""
    asked = recorded_reply().plan.request
    for number in count(1):
        request = pb.PlanCapacityRequest(
            workload=asked.workload, configuration=asked.configuration, as_of_date=asked.as_of_date
        )
        request.workload.demand.peak_rate.peak_requests_per_s = 1 + number / 1000
        yield request.SerializeToString()


def zipf(items: list[bytes], size: int) -> list[bytes]:
    """Return items drawn by Zipf's law, the first most often; seeded."""
    weights = 1 / np.arange(1, len(items) + 1)
    drawn = np.random.default_rng(7).choice(len(items), size=size, p=weights / weights.sum())
    return [items[index] for index in drawn]


def load(address: str, file: Path, seconds: float) -> dict[str, float]:
    """Return what the load client measured, in a process of its own."""
    command = [sys.executable, "-m", "bench.load", address, METHOD, str(file), str(CONCURRENCY), str(seconds)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def measure(folder: Path, *, rounds: int, seconds: float, sizes: Mapping[str, int]) -> Figures:
    """Return ratios and absolute calls/s, one value a round.

    ``sizes`` are point counts the store then grows to, by name; the first is what the others are held against.
    """
    folder.mkdir(parents=True)
    store = f"lake://{folder / 'store'}"
    source = requests()
    repeated = [next(source) for _ in range(DISTINCT)]
    (folder / "repeated").write_bytes(pack(zipf(repeated, 20 * DISTINCT)))
    found: Figures = {}
    with ExitStack() as stack:
        ingest = stack.enter_context(process("tonnage.ingest", "--store", store, "--ingest-port", "0"))
        with IngestClient(ingest) as client:
            acked = client.ingest_report(ROOT / "bench_data" / "seed" / "ifx_slo.csv").data_version
        planning = stack.enter_context(process("tonnage.planning", "--store", store, "--planning-port", "0"))
        echo = stack.enter_context(process("bench.servers", "echo"))
        floor = stack.enter_context(process("bench.servers", "floor"))
        _wait(planning, acked)
        for number in range(rounds):
            fresh = folder / f"fresh-{number}"
            fresh.write_bytes(pack([next(source) for _ in range(int(15_000 * seconds))]))
            sides = {
                "plan_repeat": load(planning, folder / "repeated", seconds),
                "echo": load(echo, folder / "repeated", seconds),
                "plan_computed": load(planning, fresh, seconds),
                "floor": load(floor, fresh, seconds),
            }
            _take(found, sides)
        for name, value in _grown(ingest, planning, folder, seconds, sizes, source):
            found[name] = [value]
    return found


def _grown(
    ingest: str, planning: str, folder: Path, seconds: float, sizes: Mapping[str, int], source: Iterator[bytes]
) -> Iterator[tuple[str, float]]:
    """Yield the rate of computed plans at each size of the store, and how many times a plan costs the smallest's."""
    stored = 0
    rates: dict[str, float] = {}
    for name, size in sizes.items():
        with IngestClient(ingest) as client:
            while stored < size:
                rows = min(size - stored, ROWS_AT_ONCE)
                answer = client.ingest_arrow(a_bulk_table(rows // LEVELS, first=stored))
                stored += rows
        _wait(planning, answer.data_version)
        fresh = folder / f"at-{name}"
        fresh.write_bytes(pack([next(source) for _ in range(int(15_000 * seconds))]))
        rates[name] = load(planning, fresh, seconds)["calls_per_s"]
        yield f"plan_{name}_calls_per_s", rates[name]
    first = next(iter(sizes))
    for name in list(sizes)[1:]:
        yield f"plan_{name}_vs_{first}", rates[first] / rates[name]


def _wait(address: str, data_version: int) -> None:
    from tonnage.client import PlanningClient  # noqa: PLC0415 -- beside its one use

    request = pb.PlanCapacityRequest.FromString(next(requests()))
    request.min_data_version = data_version
    with PlanningClient(address) as client:
        plan = client.plan_capacity(request).plan
    if not plan.candidates:
        raise RuntimeError("the bench's plan has no candidate: the sample runs do not answer the recorded request")


def _take(found: Figures, sides: dict[str, dict[str, float]]) -> None:
    rate = {name: side["calls_per_s"] for name, side in sides.items()}
    values = {f"{name}_calls_per_s": value for name, value in rate.items()}
    values |= {
        "plan_repeat_vs_echo": rate["plan_repeat"] / rate["echo"],
        "plan_computed_vs_floor": rate["plan_computed"] / rate["floor"],
        "plan_p99_vs_floor": sides["plan_computed"]["p99_ms"] / sides["floor"]["p99_ms"],
    }
    for name, value in values.items():
        found.setdefault(name, []).append(value)
