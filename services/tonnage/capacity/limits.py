"""One level against the limits of an SLO: passes, misses, or cannot be told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tonnage.capacity.exact import shown
from tonnage.capacity.qualified import Doubt, name_of
from tonnage.domain.measurement import STATISTICS
from tonnage.domain.plan import Bottleneck
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from tonnage.capacity.levels import CurveLevel
    from tonnage.domain.measurement import StatisticName
    from tonnage.domain.workload import LatencyLimit, Slo

_BOTTLENECK: Final = {
    "ttft": Bottleneck.TTFT,
    "tpot": Bottleneck.TPOT,
    "itl": Bottleneck.ITL,
    "e2e": Bottleneck.E2E,
    "queue": Bottleneck.QUEUE,
}
_PERCENTILES: Final[tuple[StatisticName, ...]] = ("p50", "p90", "p95", "p99")


class Standing(StrEnum):
    """How a level stands to an SLO."""

    PASSES = "passes"
    MISSES = "misses"
    TOO_FEW = "too-few"
    IMPOSSIBLE = "impossible"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Limit:
    """A latency limit made ready: the statistic asked, those that may stand in for it, and those below it.

    ``either`` says that the stand-in is part of the limit's meaning, and no substitution.
    """

    name: str
    max_ms: float
    bottleneck: Bottleneck
    label: str
    stand_ins: tuple[str, ...]
    below: tuple[str, ...]
    either: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a level stands, what decides, and the words; ``excess_ratio`` is value / limit of the worst miss."""

    standing: Standing
    bottleneck: Bottleneck = Bottleneck.UNKNOWN
    text: str = ""
    name: str = ""
    excess_ratio: float = 0.0
    stood_in: tuple[tuple[str, str], ...] = ()


_PASSES: Final = Verdict(Standing.PASSES)
_DOUBT: Final = {
    Doubt.TOO_FEW: Standing.TOO_FEW,
    Doubt.IMPOSSIBLE: Standing.IMPOSSIBLE,
    Doubt.ABSENT: Standing.ABSENT,
}


def ready(slo: Slo) -> tuple[Limit, ...]:
    """Return the limits of an SLO on latencies, in order of name.

    A minimum of tokens/s per user is the limit TPOT <= 1000 / minimum on the mean TPOT, or on its median where no
    mean was measured: it speaks of a typical user, and percentiles of it are stated as limits on TPOT.
    """
    limits = [_of_limit(limit, substitutes=slo.allow_statistic_substitution) for limit in slo.latency_limits]
    speed = slo.min_output_tokens_per_s_per_user
    if speed is not None:
        max_ms = MS_PER_S / speed
        label = f"output tokens/s per user >= {shown(speed)} (tpot mean <= {shown(max_ms)} ms)"
        limits.append(Limit("tpot_mean_ms", max_ms, Bottleneck.TPOT, label, ("tpot_p50_ms",), (), either=True))
    return tuple(limits)


def _of_limit(limit: LatencyLimit, *, substitutes: bool) -> Limit:
    metric, statistic = limit.metric, limit.statistic
    stand_ins = _stand_ins(statistic) if substitutes else ()
    below = _PERCENTILES[: _PERCENTILES.index(statistic)] if statistic in _PERCENTILES else ()
    return Limit(
        name_of(metric, statistic),
        limit.max_ms,
        _BOTTLENECK[metric],
        str(limit),
        tuple(name_of(metric, item) for item in stand_ins),
        tuple(name_of(metric, item) for item in below),
    )


def _stand_ins(statistic: StatisticName) -> tuple[StatisticName, ...]:
    """Return what may stand in, safest first: a higher percentile only errs high, then lower ones, then the mean."""
    if statistic == "mean":
        return _PERCENTILES
    position = _PERCENTILES.index(statistic)
    return (*_PERCENTILES[position + 1 :], *reversed(_PERCENTILES[:position]), "mean")


def judge(level: CurveLevel, limits: tuple[Limit, ...], max_failure_ratio: float | None, noise_ratio: float) -> Verdict:
    """Return how a level stands to limits widened by the known noise.

    A miss outweighs a doubt: where the asked percentile is not known, a lower percentile over the limit still
    proves the miss. Only where nothing misses does a doubt decide.
    """
    worst: Verdict | None = None
    doubt: Verdict | None = None
    stood_in: tuple[tuple[str, str], ...] = ()
    for limit in limits:
        name, value = _value(level, limit, limit.max_ms * (1 + noise_ratio))
        if value is None:
            doubt = doubt or _doubt(level, limit)
        elif value > limit.max_ms * (1 + noise_ratio):
            worst = _worse(worst, _miss(limit, name, value))
        elif name != limit.name and not limit.either:
            stood_in = (*stood_in, (limit.name, name))
    if max_failure_ratio is not None:
        failed = _failures(level, max_failure_ratio)
        if failed is not None and failed.standing is Standing.MISSES:
            worst = _worse(worst, failed)
        else:
            doubt = doubt or failed
    if worst is None and doubt is None and stood_in:
        return Verdict(Standing.PASSES, stood_in=stood_in)
    return worst or doubt or _PASSES


def _value(level: CurveLevel, limit: Limit, most_ms: float) -> tuple[str, float | None]:
    """Return the asked statistic, or what may stand in for it, or a lower percentile that proves a miss."""
    values = level.qualified.values
    value = values.get(limit.name)
    if value is not None:
        return limit.name, value
    refusal = level.qualified.refusals.get(limit.name)
    if refusal is None or refusal.doubt is not Doubt.IMPOSSIBLE:
        for name in limit.stand_ins:
            if name in values:
                return name, values[name]
    for name in limit.below:
        if name in values and values[name] > most_ms:
            return name, values[name]
    return limit.name, None


def _worse(one: Verdict | None, other: Verdict) -> Verdict:
    return other if one is None or other.excess_ratio > one.excess_ratio else one


def _miss(limit: Limit, name: str, value: float) -> Verdict:
    found = name.removesuffix("_ms").replace("_", " ")
    text = f"{found} of {shown(value)} ms misses {limit.label}"
    return Verdict(Standing.MISSES, limit.bottleneck, text, name, value / limit.max_ms)


def _doubt(level: CurveLevel, limit: Limit) -> Verdict:
    refusal = level.qualified.refusals.get(limit.name)
    if refusal is not None:
        asked = limit.name.removesuffix("_ms").replace("_", " ")
        text = f"{asked} is not known: {refusal.reason}"
        return Verdict(_DOUBT[refusal.doubt], Bottleneck.EVIDENCE, text, limit.name)
    metric = limit.name.split("_", 1)[0]
    known = [item for item in STATISTICS if f"{metric}_{item}_ms" in level.qualified.values]
    others = f"of {metric} it has {', '.join(known)}" if known else f"no statistic of {metric} can be used"
    text = f"{limit.label} cannot be told: the run does not state it ({others})"
    return Verdict(Standing.ABSENT, Bottleneck.EVIDENCE, text, limit.name)


def _failures(level: CurveLevel, max_failure_ratio: float) -> Verdict | None:
    found = level.level.failure_ratio
    if found is None:
        text = f"failures <= {shown(max_failure_ratio)} cannot be told: completed and failed counts are not both stated"
        return Verdict(Standing.ABSENT, Bottleneck.EVIDENCE, text, "failure_ratio")
    if found <= max_failure_ratio:
        return None
    text = f"failure ratio of {shown(found)} misses failures <= {shown(max_failure_ratio)}"
    excess = found / max_failure_ratio if max_failure_ratio > 0 else float("inf")
    return Verdict(Standing.MISSES, Bottleneck.FAILURES, text, "failure_ratio", excess)
