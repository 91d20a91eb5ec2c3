"""How well curves are predicted: each test row as if it had not been measured, by what else was.

Leaving out removes every row that may be the same measurement from all sources: equal in model, configuration,
lengths within a twentieth, and load (point); the same whatever the load (bucket); the whole configuration.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tonnage.capacity.accuracy.rows import METRICS, Row
from tonnage.capacity.accuracy.slo import LIMITED, beside_fixed_limits, q_slo, rungs_of
from tonnage.capacity.prediction.elsewhere import ElsewherePredictor
from tonnage.capacity.prediction.field import DECODE_LAYERS, PREFILL_LAYERS, Offset
from tonnage.capacity.prediction.loads import LoadPredictor, Prediction, Refused
from tonnage.capacity.prediction.samples import Traits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Q_SLO: Final = "q_slo"
Q_SLO_FIXED: Final = "q_slo_fixed_limits"


class LeaveOut(StrEnum):
    """What is taken from the training rows before a test row is predicted."""

    POINT = "point"
    BUCKET = "bucket"
    CONFIGURATION = "configuration"


class Kind(StrEnum):
    """What of a test row was not measured."""

    BETWEEN_LOADS = "between-loads"
    UNSEEN_LENGTHS = "unseen-lengths"
    UNSEEN_CONFIGURATION = "unseen-configuration"


_MAX_HALF_WIDTH: Final = {"throughput": 0.25, "tpot": 0.25, "ttft": 0.9, "ttft_p99": 2.0, "tpot_p99": 1.2}
"""Half of the widest interval that is still said between loads, in logs: 0.25 is a factor of 1.28 either way."""
_MAX_HALF_WIDTH_ELSEWHERE: Final = {"throughput": 0.8, "tpot": 0.6, "ttft": 1.4, "ttft_p99": 2.0, "tpot_p99": 1.2}
"""The same for request sizes and configurations that were not measured."""
_PREFILL: Final = frozenset({"ttft", "ttft_p99"})
_INPUT_POWER: Final = 0.7
_NO_TAILS: Final = "tails of a configuration that was not measured are not predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One figure of one test row: predicted beside measured, or why it was refused (``predicted`` is None)."""

    kind: Kind
    metric: str
    row: int
    measured: float
    predicted: Prediction | None = None
    refused: str = ""

    @property
    def error(self) -> float:
        """Return predicted / measured - 1."""
        return 0.0 if self.predicted is None else self.predicted.value / self.measured - 1

    @property
    def covered(self) -> bool:
        """Tell whether the measured figure lies in the interval."""
        return self.predicted is not None and self.predicted.low <= self.measured <= self.predicted.high


@dataclass(frozen=True, slots=True)
class CurveReport:
    """Everything that was judged, and how many rows gave nothing to judge."""

    scores: tuple[Scored, ...]
    not_judged: int = 0
    leave_out: tuple[LeaveOut, ...] = ()
    refusals: Mapping[str, int] = field(default_factory=dict)


def accuracy(train: Sequence[Row], test: Sequence[Row], leave_out: Sequence[LeaveOut] = ()) -> CurveReport:
    """Return how well the test rows are predicted from the training rows.

    With ``leave_out`` each row is judged once for each. Without, a row is judged as what it is to the training rows:
    between two loads of its curve, another request size of a known configuration, or an unknown configuration; equal
    rows are taken out all the same.
    """
    scores: list[Scored] = []
    ways = tuple(leave_out) or (None,)
    for metric in METRICS:
        predictors = _Predictors(metric, train)
        for one in ways:
            scores.extend(_of_metric(predictors, train, test, one))
    if {None, LeaveOut.POINT} & set(ways):
        scores.extend(_of_q_slo(train, test))
    judged = {score.row for score in scores}
    refusals = Counter(score.refused for score in scores if score.predicted is None)
    return CurveReport(tuple(scores), len({row.index for row in test} - judged), tuple(leave_out), dict(refusals))


class _Predictors:
    """The predictors of one metric, each fitted when it is first asked."""

    def __init__(self, metric: str, train: Sequence[Row]) -> None:
        self.metric = metric
        self._samples = [sample for row in train if (sample := row.sample(metric)) is not None]

    @cached_property
    def between(self) -> LoadPredictor:
        """Return what predicts between loads."""
        rate = self.metric == "throughput"
        return LoadPredictor.fitted(self._samples, rate=rate, max_half_width=_MAX_HALF_WIDTH[self.metric])

    @cached_property
    def elsewhere(self) -> ElsewherePredictor:
        """Return what predicts other request sizes and configurations."""
        prefill = self.metric in _PREFILL
        offset = Offset(float(self.metric == "throughput"), _INPUT_POWER if prefill else 0.0)
        layers = PREFILL_LAYERS if prefill else DECODE_LAYERS
        return ElsewherePredictor.fitted(self._samples, layers, offset, _MAX_HALF_WIDTH_ELSEWHERE[self.metric])


def _of_metric(
    predictors: _Predictors, train: Sequence[Row], test: Sequence[Row], leave_out: LeaveOut | None
) -> Iterable[Scored]:
    metric = predictors.metric
    asked = [row for row in test if metric in row.figures]
    for kind, rows in _kinds(metric, train, asked, leave_out).items():
        if kind is Kind.BETWEEN_LOADS:
            for row in rows:
                yield _scored(kind, metric, row, predictors.between.predict(row.curve, row.traits, row.load))
        else:
            yield from _elsewhere(kind, metric, rows, predictors.elsewhere)


def _elsewhere(kind: Kind, metric: str, rows: Sequence[Row], predictor: ElsewherePredictor) -> Iterable[Scored]:
    if kind is Kind.UNSEEN_CONFIGURATION and metric.endswith("_p99"):
        yield from (_scored(kind, metric, row, Refused(_NO_TAILS)) for row in rows)
        return
    curves: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        curves[row.curve, row.traits.arrival].append(row)
    for (curve, _), members in curves.items():
        said = predictor.predict(
            curve,
            members[0].traits,
            [row.load for row in members],
            new_configuration=kind is Kind.UNSEEN_CONFIGURATION,
        )
        for row, found in zip(members, said, strict=True):
            yield _scored(kind, metric, row, found)


def _scored(kind: Kind, metric: str, row: Row, found: Prediction | Refused | None) -> Scored:
    measured = row.figures[metric]
    if row.barred:
        return Scored(kind=kind, metric=metric, row=row.index, measured=measured, refused=row.barred)
    if isinstance(found, Prediction):
        return Scored(kind=kind, metric=metric, row=row.index, measured=measured, predicted=found)
    why = "no measured load on both sides is left" if found is None else found.why
    return Scored(kind=kind, metric=metric, row=row.index, measured=measured, refused=why)


def _kinds(
    metric: str, train: Sequence[Row], asked: Sequence[Row], leave_out: LeaveOut | None
) -> dict[Kind, list[Row]]:
    """Return the rows to judge by kind; in order of the file."""
    loads = _loads(metric, train)
    known = _sizes(train)
    found: dict[Kind, list[Row]] = {}
    for row in asked:
        kind = _kind(row, loads.get((row.curve, row.traits.arrival), frozenset()), known, leave_out)
        if kind is not None:
            found.setdefault(kind, []).append(row)
    return found


def _kind(row: Row, loads: frozenset[float], known: _Sizes, leave_out: LeaveOut | None) -> Kind | None:
    rest = loads - {row.load}
    between = bool(rest) and min(rest) < row.load < max(rest)
    if leave_out is LeaveOut.POINT or (leave_out is None and between):
        return Kind.BETWEEN_LOADS if between else None
    sizes = known.get((row.traits.model, row.traits.configuration), {})
    if leave_out is LeaveOut.BUCKET:
        others = any(not traits.may_equal_lengths(row.traits) for traits in sizes.values())
        return Kind.UNSEEN_LENGTHS if others else None
    if leave_out is None and sizes:
        return Kind.UNSEEN_LENGTHS
    return Kind.UNSEEN_CONFIGURATION


_Sizes = dict[tuple[str, tuple[str, ...]], dict[tuple[float | None, float | None], Traits]]


def _sizes(rows: Iterable[Row]) -> _Sizes:
    """Return one curve's traits for each request size of each configuration."""
    found: _Sizes = {}
    for row in rows:
        traits = row.traits
        sizes = found.setdefault((traits.model, traits.configuration), {})
        sizes.setdefault((traits.input_tokens, traits.output_tokens), traits)
    return found


def _loads(metric: str, rows: Iterable[Row]) -> dict[tuple[str, str], frozenset[float]]:
    found: defaultdict[tuple[str, str], set[float]] = defaultdict(set)
    for row in rows:
        if metric in row.figures:
            found[row.curve, row.traits.arrival].add(row.load)
    return {key: frozenset(loads) for key, loads in found.items()}


def _of_q_slo(train: Sequence[Row], test: Sequence[Row]) -> Iterable[Scored]:
    """Yield Q_slo of curves that lack one inner load: at the SLO made of its own TTFT and TPOT, and at usual limits."""
    curves: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in train:
        curves[row.curve, row.traits.arrival].append(row)
    seen: set[tuple[str, str, float]] = set()
    for row in test:
        own = [item for item in curves.get((row.curve, row.traits.arrival), ()) if item.load != row.load]
        rungs = rungs_of(own)
        if "throughput" not in row.figures or not rungs or not rungs[0].load < row.load < rungs[-1].load:
            continue
        limits = {name: row.figures[name] for name in LIMITED if name in row.figures}
        if limits:
            yield _q_slo(Q_SLO, row, row.barred or q_slo(rungs, limits), row.figures["throughput"])
        key = (row.curve, row.traits.arrival, row.load)
        if key not in seen and not row.barred:
            seen.add(key)
            same = [item for item in test if (item.curve, item.traits.arrival, item.load) == key]
            for part, whole in beside_fixed_limits(rungs_of([*own, *same]), row.load):
                yield _q_slo(Q_SLO_FIXED, row, part, whole)


def _q_slo(metric: str, row: Row, found: float | str, measured: float) -> Scored:
    if isinstance(found, str):
        return Scored(kind=Kind.BETWEEN_LOADS, metric=metric, row=row.index, measured=measured, refused=found)
    said = Prediction(value=found, low=found, high=found)
    return Scored(kind=Kind.BETWEEN_LOADS, metric=metric, row=row.index, measured=measured, predicted=said)
