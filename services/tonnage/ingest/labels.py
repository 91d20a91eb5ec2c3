"""Labels put on a run: they fill what the file leaves open, and may not contradict what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tonnage.domain.finding import Origin
from tonnage.domain.measurement import Level, Run
from tonnage.errors import InvalidInput
from tonnage.ingest.given import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from tonnage.domain.finding import Finding
    from tonnage.formats.base import Format, Source
    from tonnage.ingest.given import Given, Moment

# Only one level can have them.
_OF_ONE_LEVEL: Final = ("concurrency", "offered_requests_per_s", "duration_s")
_ZONE_UNKNOWN: Final = "TIME_ZONE_NOT_STATED"
_WIDEST_ZONE: Final = timedelta(hours=14)


class Completed:
    """A reader whose levels carry the numbers that were given, so that the checks see them."""

    def __init__(self, reader: Format, given: Given) -> None:
        self.name = reader.name
        self.title = reader.title
        self.recognised_by = reader.recognised_by
        self.metric_definitions = reader.metric_definitions
        self.definitions = reader.definitions
        self.expects = reader.expects
        self.recognises = reader.recognises
        self._reader = reader
        self._given = given

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield what the reader yields, completed."""
        for item in self._reader.read(source):
            yield self._completed(item) if isinstance(item, Run) else item

    def _completed(self, run: Run) -> Run:
        return replace(run, levels=tuple(self._level(level) for level in run.levels))

    def _level(self, level: Level) -> Level:
        work = replace(level.work, **_absent(level.work, self._given.work))
        return replace(level, work=work, **_absent(level, self._given.level))


def _absent(record: object, given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if hasattr(record, key) and getattr(record, key) is None}


def labelled(run: Run, given: Given) -> Run:
    """Return the run with the labels on it.

    Raises ``InvalidInput`` naming the label that contradicts the file.
    """
    _check_levels(run, given)
    configuration = _merged(run.configuration, given.configuration)
    conditions = _merged(run.conditions, given.conditions)
    stated = {key: value for key, value in given.run.items() if key != "measured_at"}
    run = replace(
        _merged(run, stated),
        configuration=configuration,
        conditions=replace(conditions, labels=_labels(dict(conditions.labels), given.labels)),
    )
    if "state" in given.run:
        run = replace(run, state_origin=Origin.DECLARED)
    moment = given.run.get("measured_at")
    return run if moment is None else _dated(run, moment)


def _merged(record: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- the same class comes back
    for key, value in given.items():
        found = getattr(record, key)
        if found is not None and found != value:
            raise contradiction(key, value, found)
    return replace(record, **given)


def contradiction(key: str, given: object, found: object) -> InvalidInput:
    """Return the error of a label that says something else than the file."""
    problem = f"is contradictory: the file says {found}"
    return InvalidInput.field(path_of(key), str(given), problem, "leave the label out, or send the right file")


def _labels(found: dict[str, str], given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for key, value in given.items():
        if found.get(key, value) != value:
            raise contradiction(f"label.{key}", value, found[key])
    return tuple(sorted({**found, **given}.items()))


def _dated(run: Run, moment: Moment) -> Run:
    if run.measured_at is None:
        return replace(run, measured_at=moment.at)
    if moment.agrees_with(run.measured_at):
        return run
    zone_unknown = any(item.code == _ZONE_UNKNOWN for item in run.findings)
    if zone_unknown and not moment.is_date and abs(moment.at - run.measured_at) <= _WIDEST_ZONE:
        kept = tuple(item for item in run.findings if item.code != _ZONE_UNKNOWN)
        return replace(run, measured_at=moment.at, findings=kept)
    raise contradiction("measured_at", _shown(moment), run.measured_at.isoformat())


def _shown(moment: Moment) -> str:
    at: datetime = moment.at
    return at.date().isoformat() if moment.is_date else at.isoformat()


def _check_levels(run: Run, given: Given) -> None:
    """Refuse numbers the levels do not carry: the file says another, or has no place for it."""
    for key, value in given.work.items():
        for level in run.levels:
            _check(key, value, level.work, lambda work: type(work).__name__)
    for key, value in given.level.items():
        if len(run.levels) > 1 and key in _OF_ONE_LEVEL:
            problem = f"speaks of one level, and the file holds {len(run.levels)}"
            raise InvalidInput.field(path_of(key), value, problem, "leave the label out, or split the file")
        for level in run.levels:
            _check(key, value, level, lambda _: "level")


def _check(key: str, value: object, record: Any, named: Callable[[Any], str]) -> None:  # noqa: ANN401 -- any record
    if not hasattr(record, key):
        problem = f"has no place in {named(record)}"
        raise InvalidInput.field(path_of(key), value, problem, "leave the label out")
    found = getattr(record, key)
    if found is not None and found != value:
        raise contradiction(key, value, found)
