"""Group commit: one writer, one transaction for what arrives together, an answer for each."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

import pytest
from builders import a_level, a_run

from tonnage.errors import NotStored, Overloaded, RequestIdReused, StoreUnavailable, TonnageError
from tonnage.ingest.committer import Committer
from tonnage.ingest.keys import run_id
from tonnage.store.base import Append, Receipt
from tonnage.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Counting(MemoryStore):
    """A store that notes its commits, and can be held before one."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.fault: Exception | None = None
        self.is_closed = False

    def append(self, appends: Sequence[Append]) -> list[Receipt | TonnageError]:
        """Wait for the gate, note the group, store it."""
        self.gate.wait(60)
        self.groups.append(len(appends))
        self.threads.add(threading.current_thread().name)
        if self.fault is not None:
            raise self.fault
        return super().append(appends)

    def close(self) -> None:
        """Note it."""
        self.is_closed = True


@pytest.fixture
def store() -> Counting:
    """Return a store that counts."""
    return Counting()


@pytest.fixture
def committer(store: Counting) -> Iterator[Committer]:
    """Return a committer with a window long enough for a test to fill."""
    made = Committer(store, window_s=0.2, max_waiting=10)
    yield made
    store.gate.set()
    made.stop()


def an_upload(number: int, request_id: str | None = None) -> Append:
    """Return an upload of one run."""
    report_id = f"{number:064x}"
    run = a_run(a_level(4, 2), run_id=run_id(report_id, (), 0), report_id=report_id)
    return Append(namespace="default", runs=(run,), body_digest=report_id, request_id=request_id)


def settled(futures: list[Future[Receipt]]) -> list[Receipt]:
    """Return the receipts once all are there."""
    wait(futures, 60)
    return [future.result(0) for future in futures]


def test_uploads_within_the_window_share_one_commit(store: Counting, committer: Committer) -> None:
    receipts = settled([committer.submit(an_upload(number)) for number in range(5)])
    assert store.groups == [5]
    assert {receipt.data_version for receipt in receipts} == {1}


def test_every_commit_is_made_on_one_thread(store: Counting, committer: Committer) -> None:
    settled([committer.submit(an_upload(1))])
    settled([committer.submit(an_upload(2))])
    assert store.threads == {"committer"}
    assert store.groups == [1, 1]


def test_a_refused_upload_does_not_take_the_others_with_it(committer: Committer) -> None:
    first = committer.submit(an_upload(1, request_id="a"))
    second = committer.submit(an_upload(2, request_id="a"))
    third = committer.submit(an_upload(3))
    assert first.result(60).data_version == third.result(60).data_version == 1
    with pytest.raises(RequestIdReused):
        second.result(60)


def test_a_failed_commit_is_told_to_everyone_in_it_and_the_next_one_works(
    store: Counting, committer: Committer
) -> None:
    store.fault = StoreUnavailable("no space left")
    futures = [committer.submit(an_upload(number)) for number in range(2)]
    for future in futures:
        with pytest.raises(StoreUnavailable):
            future.result(60)
    store.fault = None
    assert settled([committer.submit(an_upload(3))])[0].data_version == 1


def test_more_than_may_wait_is_turned_away_with_a_hint(store: Counting, committer: Committer) -> None:
    store.gate.clear()
    first = committer.submit(an_upload(0))
    while store.groups == [] and not first.running():
        threading.Event().wait(0.01)
    waiting = [committer.submit(an_upload(number)) for number in range(1, 11)]
    with pytest.raises(Overloaded) as caught:
        committer.submit(an_upload(11))
    assert caught.value.context["retry_after_ms"] == "500"
    store.gate.set()
    assert len(settled([first, *waiting])) == 11


def test_an_upload_cancelled_before_its_commit_is_not_stored(store: Counting, committer: Committer) -> None:
    kept = committer.submit(an_upload(1))
    dropped = committer.submit(an_upload(2))
    assert dropped.cancel() is True
    kept.result(60)
    assert store.groups == [1]
    with pytest.raises(NotStored):
        store.find_upload("default", report_id=f"{2:064x}")


def test_a_question_is_answered_after_what_came_before_it(committer: Committer) -> None:
    upload = committer.submit(an_upload(1))
    version = committer.call(lambda writer: writer.data_version)
    assert (version.result(60), upload.result(60).data_version) == (1, 1)


def test_a_question_that_fails_tells_its_caller_alone(committer: Committer) -> None:
    asked = committer.call(lambda writer: writer.find_upload("default", report_id="00"))
    with pytest.raises(TonnageError):
        asked.result(60)
    assert settled([committer.submit(an_upload(1))])[0].data_version == 1


def test_what_waits_is_stored_before_the_end(store: Counting) -> None:
    committer = Committer(store, window_s=0.2, max_waiting=10)
    futures = [committer.submit(an_upload(number)) for number in range(3)]
    committer.stop()
    assert [future.result(0).data_version for future in futures] == [1, 1, 1]
    assert store.is_closed is True


def test_nothing_is_taken_after_the_end(store: Counting) -> None:
    committer = Committer(store, window_s=0, max_waiting=10)
    committer.stop()
    assert committer.is_alive is False
    with pytest.raises(StoreUnavailable):
        committer.submit(an_upload(1))
