"""Facts of uploads the writer has looked up or stored itself, so that what is sent again soon asks the lake nothing.

One look-up in the lake costs a tenth of a second whatever it asks; a folder that is sent again would pay it per file.
The one writer alone changes these facts, so what it remembers stays true until a commit of unknown outcome.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from tonnage.store.known import Keys, Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tonnage.store.known import Key, KnownReport, KnownRequest, KnownRun

LARGEST_COUNT: Final = 50_000
Fact = TypeVar("Fact")


@dataclass(slots=True)
class Remembered:
    """Facts by key, the least recently used forgotten first; ``newest`` gives keys to begin with.

    A report is remembered with all its runs, since decisions ask for them together.
    """

    look_up: Callable[[Keys], Known]
    newest: Callable[[], Keys]
    largest_count: int = LARGEST_COUNT
    _runs: OrderedDict[Key, KnownRun] = field(default_factory=OrderedDict)
    _reports: OrderedDict[Key, tuple[KnownReport, tuple[Key, ...]]] = field(default_factory=OrderedDict)
    _requests: OrderedDict[Key, KnownRequest] = field(default_factory=OrderedDict)
    _is_begun: bool = False

    def known(self, keys: Keys) -> Known:
        """Return what is known of some keys, as ``look_up`` does; the caller may change what it gets."""
        missing = self._missing(keys)
        if missing.reports and not self._is_begun:
            self._begin()
            missing = self._missing(keys)
        found = self.look_up(missing) if any((missing.runs, missing.reports, missing.requests, missing.plans)) else None
        if found is not None:
            self.keep(found, missing.reports)
        held = self._held(keys)
        if found is not None:
            held.runs.update(found.runs)
            held.reports.update(found.reports)
            held.requests.update(found.requests)
            held.plans.update(found.plans)
        return held

    def keep(self, known: Known, reports: Iterable[Key]) -> None:
        """Remember facts as they stand in the lake; ``reports`` are those whose runs are all among them."""
        _keep(self._runs, known.runs.items(), self.largest_count)
        _keep(self._requests, known.requests.items(), self.largest_count)
        members: dict[Key, list[Key]] = {key: [] for key in reports if key in known.reports}
        for run in known.runs.values():
            members.get((run.namespace, run.report_id), []).append(run.key)
        whole = ((key, (known.reports[key], tuple(runs))) for key, runs in members.items())
        _keep(self._reports, whole, self.largest_count)

    def _begin(self) -> None:
        keys = self.newest()
        if keys.reports:
            self.keep(self.look_up(keys), keys.reports)
        self._is_begun = True

    def _missing(self, keys: Keys) -> Keys:
        return Keys(
            runs=frozenset(key for key in keys.runs if key not in self._runs),
            reports=frozenset(key for key in keys.reports if not self._is_whole(key)),
            requests=frozenset(key for key in keys.requests if key not in self._requests),
            plans=keys.plans,
        )

    def _is_whole(self, report: Key) -> bool:
        """Tell whether a report is remembered, and no run of it was forgotten meanwhile."""
        held = self._reports.get(report)
        return held is not None and all(run in self._runs for run in held[1])

    def _held(self, keys: Keys) -> Known:
        reports = {key: self._reports[key] for key in keys.reports if self._is_whole(key)}
        runs = [*keys.runs, *(run for _, members in reports.values() for run in members)]
        for key in runs:
            if key in self._runs:
                self._runs.move_to_end(key)
        return Known(
            runs={key: self._runs[key] for key in runs if key in self._runs},
            reports={key: report for key, (report, _) in reports.items()},
            requests={key: self._requests[key] for key in keys.requests if key in self._requests},
        )


def _keep(held: OrderedDict[Key, Fact], facts: Iterable[tuple[Key, Fact]], largest_count: int) -> None:
    for key, fact in facts:
        held[key] = fact
        held.move_to_end(key)
    while len(held) > largest_count:
        held.popitem(last=False)
