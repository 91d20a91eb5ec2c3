"""What goes wrong around a shared store: nothing acknowledged is lost, nothing is there twice, readers converge.

Short rounds run with every merge; ``make faults`` (``TONNAGE_FAULTS=long``) takes more of them, and a network of
namespaces where the kernel allows one.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from backends import Cuttable, Postgres
from builders import a_level
from builders_store import a_stored_run, an_upload, rows_of, stored

from tonnage.errors import StoreUnavailable
from tonnage.store import open_reader, open_writer
from tonnage.store.base import Page, RunFilter
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.maintenance import Upkeep
from tonnage.store.replica import LakeReader
from tonnage.store.url import parse_store_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends import Backends

    from tonnage.domain.measurement import Level
    from tonnage.store.base import StoreReader

IS_LONG: Final = os.environ.get("TONNAGE_FAULTS") == "long"
ROUNDS: Final = 12 if IS_LONG else 2
PROGRAM: Final = Path(__file__).parents[1] / "e2e" / "programs" / "store_writer.py"
TEAM: Final = "default"
LEVELS_A_RUN: Final = 3
NEVER_S: Final = 3600.0
pytestmark = pytest.mark.timeout(600)


def levels() -> list[Level]:
    """Return the levels each run of these tests has, as the program's."""
    return [a_level(number + 1, number + 1.0, index=number) for number in range(LEVELS_A_RUN)]


@dataclass
class Writer:
    """A writer in a process of its own; ``acked`` grows as it tells."""

    process: subprocess.Popen[str]
    acked: set[str] = field(default_factory=set)
    next_number: int = 0
    data_version: int = 0
    told: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread = field(default_factory=threading.Thread)

    def listen(self) -> None:
        """Read what it tells until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith("\n"):
                return  # killed in the middle of it: not acknowledged
            told = json.loads(line)
            with self.told:
                self.acked.update(told["run_ids"])
                self.next_number, self.data_version = told["next"], told["data_version"]
                self.told.notify_all()

    def wait_for_more(self, count: int, timeout_s: float = 60.0) -> None:
        """Wait until it told of so many more runs."""
        with self.told:
            wanted = len(self.acked) + count
            assert self.told.wait_for(lambda: len(self.acked) >= wanted, timeout_s), "the writer tells nothing more"

    def kill(self) -> None:
        """Kill it without notice, and read what it still told."""
        self.process.kill()
        self.process.wait(10)
        self.thread.join(10)


@contextmanager
def a_writer(url: str, first: int, *before: str) -> Iterator[Writer]:
    """Run a writer of the uploads numbered from ``first``; ``before`` stands before its command."""
    command = [*before, sys.executable, str(PROGRAM), url, str(first), "0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        found = Writer(process, next_number=first)
        found.thread = threading.Thread(target=found.listen, daemon=True)
        found.thread.start()
        try:
            yield found
        finally:
            found.kill()


def check(reader: StoreReader, url: str, acked: set[str]) -> None:
    """Compare what a reader that was there all the time sees with what was acknowledged, and with a new reader."""
    with closing(open_writer(url)) as writer:
        snapshot = reader.wait_for(writer.data_version, 30)
    seen = [run.run_id for run, _ in rows_of(snapshot.runs(TEAM, RunFilter(), Page(limit=10_000)))]
    assert len(seen) == len(set(seen))
    assert acked <= set(seen)
    (facts,) = snapshot.configurations(TEAM)
    assert (facts.run_count, facts.level_count) == (len(seen), LEVELS_A_RUN * len(seen))
    with closing(open_reader(url)) as new:
        fresh = new.wait_for(snapshot.data_version, 30)
        assert fresh.configurations(TEAM) == snapshot.configurations(TEAM)
        assert [run.run_id for run, _ in rows_of(fresh.runs(TEAM, RunFilter(), Page(limit=10_000)))] == seen


def test_two_writers_at_once_and_one_killed_again_and_again(backends: Backends) -> None:
    url = backends.new_url()
    chance = random.Random(11)  # noqa: S311 -- when to kill, repeatable
    acked: set[str] = set()
    first = 0
    with closing(open_reader(url)) as reader:
        # Both send the same uploads, so each is offered twice while the other writes it.
        with a_writer(url, 0) as steady:
            for _ in range(ROUNDS):
                with a_writer(url, first) as victim:
                    victim.wait_for_more(chance.randint(3, 12))
                    time.sleep(chance.uniform(0.0, 0.2))
                    victim.kill()
                first = victim.next_number
                acked |= victim.acked
                steady.wait_for_more(3)
        acked |= steady.acked
        check(reader, url, acked)


@pytest.fixture
def cables() -> Iterator[ExitStack]:
    """Return where proxies are noted, that they end with the test."""
    with ExitStack() as ended:
        yield ended


@pytest.mark.parametrize("what", ["catalog", "objects"])
def test_a_cut_network_stops_writes_and_no_reads(backends: Backends, cables: ExitStack, what: str) -> None:
    proxies = {"catalog": Cuttable(backends.postgres.port), "objects": Cuttable(backends.objects.port)}
    for proxy in proxies.values():
        proxy.mend()
        cables.callback(proxy.cut)
    url = backends.new_url(postgres_port=proxies["catalog"].port, objects_port=proxies["objects"].port)
    acked: set[str] = set()
    with closing(open_writer(url)) as writer, closing(open_reader(url)) as reader:
        for number in range(ROUNDS):
            # Many enough to go to the bucket, and not into the catalog itself.
            runs = [a_stored_run(TEAM, f"{number} {part}", *levels()) for part in range(8)]
            uploads = [an_upload(run) for run in runs]
            before = reader.snapshot
            proxies[what].cut()
            started_s = time.monotonic()
            with pytest.raises(StoreUnavailable):
                writer.append(uploads)
            assert time.monotonic() - started_s < 60
            assert reader.snapshot.data_version == before.data_version
            proxies[what].mend()
            receipts = stored(writer, *uploads)
            acked.update(run.run_id for run in runs)
            assert reader.wait_for(receipts[0].data_version, 30).data_version >= receipts[0].data_version
        check(reader, url, acked)


def test_a_catalog_that_is_restarted_loses_nothing(backends: Backends) -> None:
    url = backends.new_url()
    acked: set[str] = set()
    with closing(open_writer(url)) as writer, closing(open_reader(url)) as reader:
        for number in range(ROUNDS):
            run = a_stored_run(TEAM, f"before {number}", *levels())
            stored(writer, an_upload(run))
            backends.postgres.stop()
            lost = a_stored_run(TEAM, f"after {number}", *levels())
            with pytest.raises(StoreUnavailable):
                writer.append([an_upload(lost)])
            backends.postgres.start()
            (receipt,) = stored(writer, an_upload(lost))
            acked |= {run.run_id, lost.run_id}
            reader.wait_for(receipt.data_version, 30)
        check(reader, url, acked)


def test_a_replica_left_behind_by_housekeeping_copies_anew(backends: Backends) -> None:
    place = parse_store_url(backends.new_url())
    at_once = Upkeep(snapshot_age_s=0, file_age_s=0, orphan_every_s=0.0)
    with (
        closing(LakeWriter(place, upkeep=at_once)) as writer,
        closing(LakeWriter(place)) as other,
        closing(LakeReader(place, poll_s=NEVER_S)) as behind,
    ):
        runs = [a_stored_run(TEAM, str(number)) for number in range(4)]
        for run in runs:
            stored(writer, an_upload(run))
        writer.maintain()
        writer.maintain()
        # A writer that was left behind learns it too.
        (again,) = stored(other, an_upload(runs[0]))
        assert again.data_version == 1
        assert behind.refresh() is None
        seen = {run.run_id for run, _ in rows_of(behind.snapshot.runs(TEAM, RunFilter(), Page(limit=100)))}
        assert seen == {run.run_id for run in runs}


@dataclass
class Host:
    """A network namespace with one cable to this machine."""

    name: str
    here: str
    there: str

    def cable(self, state: str) -> None:
        """Pull or plug the cable on this side."""
        ip("link", "set", f"v{self.name}", state)


def ip(*words: str) -> None:
    """Run ``ip``."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Make hosts, or skip where the kernel does not let us."""
    made: list[Host] = []
    with ExitStack() as ended:
        for number in range(1, count + 1):
            host = Host(f"tng{os.getpid() % 10_000}{number}", f"10.203.{number}.1", f"10.203.{number}.2")
            try:
                ip("netns", "add", host.name)
            except (OSError, subprocess.CalledProcessError) as error:
                pytest.skip(f"network namespaces are not allowed here: {error}")
            ended.callback(ip, "netns", "del", host.name)
            try:
                ip("link", "add", f"v{host.name}", "type", "veth", "peer", "name", "eth0", "netns", host.name)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"cables between network namespaces are not allowed here: {error.stderr.decode()}")
            ip("addr", "add", f"{host.here}/24", "dev", f"v{host.name}")
            host.cable("up")
            ip("-n", host.name, "addr", "add", f"{host.there}/24", "dev", "eth0")
            ip("-n", host.name, "link", "set", "eth0", "up")
            ip("-n", host.name, "link", "set", "lo", "up")
            made.append(host)
        yield made


@pytest.mark.skipif(not IS_LONG, reason="takes a minute; make faults runs it")
def test_a_host_whose_cable_is_pulled_does_not_hold_up_the_other(backends: Backends) -> None:
    with hosts(2) as (one, two), ExitStack() as ended:
        folder = backends.postgres.folder.parent / "hosts"
        folder.mkdir()
        postgres = Postgres(folder, addresses=(one.here, two.here))
        postgres.create()
        ended.callback(postgres.stop)
        postgres.start()
        postgres.ask("CREATE DATABASE hosts", database="postgres")
        urls = {}
        for host in (one, two):
            objects = Cuttable(backends.objects.port, address=host.here)
            objects.mend()
            ended.callback(objects.cut)
            urls[host.name] = (
                f"lake+postgres://tonnage@{host.here}:{postgres.port}/hosts"
                f"?data=s3://stores/hosts&endpoint=http://{host.here}:{objects.port}"
            )
        numbers = itertools.count(0, 100_000)
        reader = ended.enter_context(closing(open_reader(urls[two.name])))
        acked: set[str] = set()
        for _ in range(2):
            first = next(numbers)
            with (
                a_writer(urls[one.name], first, "ip", "netns", "exec", one.name) as cut_off,
                a_writer(urls[two.name], first, "ip", "netns", "exec", two.name) as other,
            ):
                cut_off.wait_for_more(6)
                other.wait_for_more(6)
                one.cable("down")
                time.sleep(1)
                other.wait_for_more(12)
                one.cable("up")
                other.wait_for_more(6)
            acked |= cut_off.acked | other.acked
        check(reader, urls[two.name], acked)
