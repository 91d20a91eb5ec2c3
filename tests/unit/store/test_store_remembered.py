"""What the writer remembers is what the lake would tell."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from tonnage.store.base import ReportFacts
from tonnage.store.known import Key, Keys, Known, KnownReport, KnownRun
from tonnage.store.lake.remembered import Remembered

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_run(run_id: str, report_id: str) -> KnownRun:
    return KnownRun(
        namespace="n",
        run_id=run_id,
        report_id=report_id,
        filename="f",
        level_count=1,
        ingested_at=NOW,
        data_version=1,
    )


def a_report(report_id: str) -> KnownReport:
    facts = ReportFacts(report_id=report_id, filename="f", size_bytes=1, format="x", given=())
    return KnownReport(namespace="n", facts=facts, ingested_at=NOW, data_version=1)


class Lake:
    """Three reports of two runs each, and how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[Keys] = []
        self.runs = {
            ("n", f"{report}{number}"): a_run(f"{report}{number}", report) for report in "abc" for number in "12"
        }

    def look_up(self, keys: Keys) -> Known:
        """Answer as the lake does."""
        self.asked.append(keys)
        wanted = {
            key: run for key, run in self.runs.items() if key in keys.runs or ("n", run.report_id) in keys.reports
        }
        return Known(runs=wanted, reports={key: a_report(key[1]) for key in keys.reports if key[1] in "abc"})

    def newest(self) -> Keys:
        """Return no key, so that each is asked for by itself."""
        return Keys()


def of_report(name: str) -> Keys:
    return Keys(reports=frozenset({("n", name)}))


def run_ids(known: Known) -> list[Key]:
    return sorted(known.runs)


def test_a_report_is_looked_up_once_with_all_its_runs() -> None:
    lake = Lake()
    remembered = Remembered(lake.look_up, lake.newest)
    answers = [remembered.known(of_report("a")) for _ in range(3)]
    assert len(lake.asked) == 1
    assert all(run_ids(one) == run_ids(other) == [("n", "a1"), ("n", "a2")] for one, other in pairwise(answers))


def test_what_a_refused_write_changed_is_not_remembered() -> None:
    lake = Lake()
    remembered = Remembered(lake.look_up, lake.newest)
    remembered.known(of_report("a")).runs.clear()
    assert run_ids(remembered.known(of_report("a"))) == [("n", "a1"), ("n", "a2")]


def test_what_was_committed_is_remembered() -> None:
    lake = Lake()
    remembered = Remembered(lake.look_up, lake.newest)
    known = Known(runs={("n", "d1"): a_run("d1", "d")}, reports={("n", "d"): a_report("d")})
    remembered.keep(known, [("n", "d")])
    assert run_ids(remembered.known(of_report("d"))) == [("n", "d1")]
    assert not lake.asked


def test_a_report_that_lost_a_run_to_the_limit_is_looked_up_again() -> None:
    lake = Lake()
    remembered = Remembered(lake.look_up, lake.newest, largest_count=3)
    for name in "abca":
        assert run_ids(remembered.known(of_report(name))) == [("n", f"{name}1"), ("n", f"{name}2")]
    assert len(lake.asked) == 4


def test_the_newest_are_fetched_at_once_when_the_first_report_is_asked_for() -> None:
    lake = Lake()
    newest = Keys(reports=frozenset({("n", "a"), ("n", "b")}))
    remembered = Remembered(lake.look_up, lambda: newest)
    remembered.known(of_report("a"))
    remembered.known(of_report("b"))
    assert lake.asked == [newest]
