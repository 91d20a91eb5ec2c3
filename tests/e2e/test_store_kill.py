"""A writer in a process of its own: seen at once, and killed without loss."""

from __future__ import annotations

import itertools
import json
import random
import signal
import statistics
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest
from builders_store import rows_of

from tonnage.store import open_reader, open_writer
from tonnage.store.base import Page, RunFilter
from tonnage.store.lake.connection import attach, connect
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).parent / "programs" / "store_writer.py"
KILL_COUNT = 10
LEVELS_A_RUN = 3


@dataclass(frozen=True)
class Ack:
    """What the writer told when an upload was durable."""

    next_number: int
    run_ids: tuple[str, ...]
    data_version: int
    ack_ms: float
    at_s: float


def acks(lines: IO[str]) -> Iterator[Ack]:
    for line in lines:
        told = json.loads(line)
        yield Ack(told["next"], tuple(told["run_ids"]), told["data_version"], told["ack_ms"], told["at_s"])


@contextmanager
def a_writer(url: str, first: int, pause_s: float) -> Iterator[subprocess.Popen[str]]:
    """Run a writer, and kill it at the end if it still lives."""
    command = [sys.executable, str(PROGRAM), url, str(first), str(pause_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.timeout(300)
def test_a_killed_writer_loses_no_acknowledged_point_and_stores_none_twice(tmp_path: Path) -> None:
    url = f"lake://{tmp_path / 'store'}"
    chance = random.Random(7)  # noqa: S311 -- when to kill, repeatable
    acknowledged: list[Ack] = []
    number = 0
    with closing(open_reader(url)) as reader:
        for _ in range(KILL_COUNT):
            with a_writer(url, number, 0.0) as process:
                assert process.stdout is not None
                told = acks(process.stdout)
                acknowledged.extend(itertools.islice(told, chance.randint(1, 6)))
                time.sleep(chance.uniform(0.0, 0.2))
                process.send_signal(signal.SIGKILL)
                acknowledged.extend(told)
            # The next writer sends again what may have been stored without an ack.
            number = acknowledged[-1].next_number
        with closing(open_writer(url)) as writer:
            snapshot = reader.wait_for(writer.data_version, 20)
        listed = snapshot.runs("default", RunFilter(), Page(limit=10_000))
        seen = [run.run_id for run, _ in rows_of(listed)]
        wanted = {run_id for ack in acknowledged for run_id in ack.run_ids}
        assert len(seen) == len(set(seen)) == listed.total_count
        assert wanted <= set(seen)
        (facts,) = snapshot.configurations("default")
        assert (facts.run_count, facts.level_count) == (len(seen), LEVELS_A_RUN * len(seen))
        assert sum(
            len(run.levels) for sweep in snapshot.sweeps("default", facts.fingerprint) for run in sweep.runs
        ) == (LEVELS_A_RUN * len(seen))
    assert points_in_the_lake(tmp_path / "store") == (LEVELS_A_RUN * len(seen), LEVELS_A_RUN * len(seen))


def points_in_the_lake(folder: Path) -> tuple[int, int]:
    """Return how many points the lake holds, and how many different ones."""
    with closing(connect()) as connection:
        attach(connection, EmbeddedPlace(folder), read_only=True)
        found = connection.execute(
            "SELECT count(*), count(DISTINCT (namespace, run_id, point_index)) FROM lake.points"
        ).fetchone()
    assert found is not None
    return found


@pytest.mark.timeout(120)
def test_a_point_is_seen_in_another_process_within_a_second_of_its_ack(tmp_path: Path) -> None:
    url = f"lake://{tmp_path / 'store'}"
    delays_s: list[float] = []
    acks_s: list[float] = []
    with closing(open_reader(url)) as reader, a_writer(url, 0, 0.3) as process:
        assert process.stdout is not None
        for ack, _ in zip(acks(process.stdout), range(12), strict=False):
            snapshot = reader.wait_for(ack.data_version, 10)
            delays_s.append(time.time() - ack.at_s)
            acks_s.append(ack.ack_ms / 1000)
            assert snapshot.run("default", ack.run_ids[0])[0].run_id == ack.run_ids[0]
    # On a machine so busy that an ack itself takes long, a second is not the measure.
    assert statistics.median(delays_s) < max(1.0, 5 * statistics.median(acks_s)), (delays_s, acks_s)
