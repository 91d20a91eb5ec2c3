"""Bulk ingest against a plain DuckDB insert of the same Arrow data, and many clients' small reports against one's."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import duckdb
from bench.planning import process
from builders_arrow import LEVELS, a_bulk_table

from tonnage.client import IngestClient
from tonnage.client import messages as pb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

# Two streams at a time: while one is committed, the other is read and checked.
ROWS_PER_STREAM = 50_000
STREAM_COUNT = 2
# Runs as messages are slower; a part of the points tells their rate as well.
BATCH_SHARE = 4
RUNS_PER_STREAM = 1_000
CLIENT_COUNT = 16
LOADS = ("concurrency", "requests_per_s", "output_tokens_per_s", "duration_s", "completed_count", "failed_count")
LATENCIES = ("ttft", "tpot", "e2e")
STATISTICS = ("mean", "p50", "p90", "p95", "p99")
Figures = dict[str, list[float]]


def measure(folder: Path, *, rounds: int, points: int, seconds: float) -> Figures:
    """Return ratios and absolute points/s, one value a round; every round sends points nobody sent before.

    ``seconds`` is how long the small reports of one client, and then of many, are sent each.
    """
    folder.mkdir(parents=True)
    found: Figures = {}
    with (
        process("tonnage.ingest", "--store", f"lake://{folder / 'store'}", "--ingest-port", "0") as address,
        IngestClient(address) as client,
    ):
        client.ingest_arrow(a_bulk_table(1, first=10_000_000))
        for number in range(rounds):
            table = a_bulk_table(points // LEVELS, first=number * points)
            few = a_bulk_table(points // LEVELS // BATCH_SHARE, first=20_000_000 + number * points)
            rates = {
                "ingest_arrow": table.num_rows / arrow_s(client, table),
                "insert": table.num_rows / insert_s(folder / f"plain-{number}.duckdb", table),
                "ingest_batches": few.num_rows / batches_s(client, list(messages_of(few))),
            }
            acks = {
                "acks_of_one": acks_per_s(address, 1, seconds, first=30_000_000 + 2_000_000 * number),
                "acks_of_many": acks_per_s(address, CLIENT_COUNT, seconds, first=31_000_000 + 2_000_000 * number),
            }
            _take(found, rates, acks)
    return found


def acks_per_s(address: str, clients: int, seconds: float, *, first: int) -> float:
    """Return the durable acks/s of clients that each send one small report after the other, every one new."""
    with ThreadPoolExecutor(clients) as pool:
        counts = pool.map(lambda number: _acks(address, seconds, first + 10_000 * number), range(clients))
        return sum(counts) / seconds


def _acks(address: str, seconds: float, first: int) -> int:
    reports = messages_of(a_bulk_table(int(200 * seconds), first=first))
    with IngestClient(address) as client:
        client.ingest_runs([next(reports)])
        until = time.perf_counter() + seconds
        count = 0
        while time.perf_counter() < until:
            client.ingest_runs([next(reports)])
            count += 1
        return count


def arrow_s(client: IngestClient, table: pa.Table) -> float:
    """Return how long a table takes from the first message to the last durable answer, s."""
    started = time.perf_counter()
    parts = [table.slice(offset, ROWS_PER_STREAM) for offset in range(0, table.num_rows, ROWS_PER_STREAM)]
    with ThreadPoolExecutor(STREAM_COUNT) as pool:
        stored = sum(answer.stored_level_count for answer in pool.map(client.ingest_arrow, parts))
    taken_s = time.perf_counter() - started
    return _whole(stored, table.num_rows, taken_s)


def batches_s(client: IngestClient, runs: list[pb.Run]) -> float:
    """Return how long runs take as messages, made beforehand, s."""
    started = time.perf_counter()
    parts = [runs[offset : offset + RUNS_PER_STREAM] for offset in range(0, len(runs), RUNS_PER_STREAM)]
    with ThreadPoolExecutor(STREAM_COUNT) as pool:
        stored = sum(answer.stored_level_count for answer in pool.map(client.ingest_runs, parts))
    taken_s = time.perf_counter() - started
    return _whole(stored, sum(len(run.levels) for run in runs), taken_s)


def _whole(stored: int, sent: int, taken_s: float) -> float:
    if stored != sent:
        raise RuntimeError(f"{sent} points were sent and {stored} stored")
    return taken_s


def insert_s(path: Path, table: pa.Table) -> float:
    """Return how long DuckDB takes to insert a table into a file, one transaction and a checkpoint, s."""
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", table)
        connection.execute("CREATE TABLE points AS SELECT * FROM incoming LIMIT 0")
        started = time.perf_counter()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO points SELECT * FROM incoming")
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")
        taken_s = time.perf_counter() - started
    path.unlink()
    return taken_s


def messages_of(table: pa.Table) -> Iterator[pb.Run]:
    """Yield the runs of a bulk table as messages."""
    rows = table.to_pylist()
    for start in range(0, len(rows), LEVELS):
        first = rows[start]
        run = pb.Run(tool=first["tool"], metric_definitions=first["metric_definitions"], sweep_id=first["sweep_id"])
        for name in ("model", "weight_precision", "engine", "engine_version", "accelerator"):
            setattr(run.configuration, name, first[name])
        run.configuration.accelerators_per_replica = run.configuration.tensor_parallel = 1
        run.replicas_under_test = 1
        run.arrival_kind = pb.ARRIVAL_KIND_CLOSED
        run.measured_at.FromDatetime(first["measured_at"])
        run.levels.extend(map(_level, rows[start : start + LEVELS]))
        yield run


def _level(row: dict[str, float]) -> pb.Level:
    level = pb.Level()
    for name in LOADS:
        setattr(level, name, row[name])
    level.work.text.input_tokens_mean = row["input_tokens_mean"]
    level.work.text.output_tokens_mean = row["output_tokens_mean"]
    for metric in LATENCIES:
        held = getattr(level, metric)
        for statistic in STATISTICS:
            setattr(held, f"{statistic}_ms", row[f"{metric}_{statistic}_ms"])
    return level


def _take(found: Figures, rates: dict[str, float], acks: dict[str, float]) -> None:
    values = {f"{name}_points_per_s": rate for name, rate in rates.items()}
    values |= {f"{name}_per_s": rate for name, rate in acks.items()}
    values |= {
        "ingest_arrow_vs_insert": rates["ingest_arrow"] / rates["insert"],
        "ingest_batches_vs_insert": rates["ingest_batches"] / rates["insert"],
        "acks_16_clients_vs_1": acks["acks_of_many"] / acks["acks_of_one"],
    }
    for name, value in values.items():
        found.setdefault(name, []).append(value)
