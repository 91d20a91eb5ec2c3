"""Errors of predictions in numbers: medians, ninth deciles, coverage, over-promises, refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tonnage.capacity.accuracy.curves import Q_SLO, Q_SLO_FIXED, Kind
from tonnage.capacity.accuracy.rows import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.accuracy.curves import CurveReport, Scored

Numbers = dict[str, float | int | None]
_OVER: Final = 0.1
_MAIN: Final = frozenset({"throughput", "ttft", "tpot"})


def as_json(report: CurveReport) -> dict[str, object]:
    """Return plain values: errors as fractions; ``refused`` counts rows of which throughput, TTFT or TPOT was refused.

    ``refused_figures`` counts figures, tails too; each metric has its own count. ``not_judged`` test rows that were
    no case of what was asked.
    """
    curves = [score for score in report.scores if score.metric in METRICS]
    return {
        "metrics": _by_metric(curves),
        "q_slo": numbers([score for score in report.scores if score.metric == Q_SLO], intervals=False),
        Q_SLO_FIXED: numbers([score for score in report.scores if score.metric == Q_SLO_FIXED], intervals=False),
        "by_kind": {kind.value: _of_kind([score for score in curves if score.kind is kind]) for kind in Kind},
        "refused": _refused_rows(curves),
        "refused_figures": sum(score.predicted is None for score in curves),
        "rows": len({score.row for score in report.scores}),
        "not_judged": report.not_judged,
        "leave_out": [item.value for item in report.leave_out],
        "refusals": dict(sorted(report.refusals.items(), key=lambda item: (-item[1], item[0]))[:12]),
    }


def _refused_rows(scores: Sequence[Scored]) -> int:
    return len({score.row for score in scores if score.predicted is None and score.metric in _MAIN})


def _by_metric(scores: Sequence[Scored]) -> dict[str, Numbers]:
    return {metric: numbers([score for score in scores if score.metric == metric]) for metric in METRICS}


def _of_kind(scores: Sequence[Scored]) -> dict[str, object]:
    rows = {score.row for score in scores}
    found: dict[str, object] = dict(_by_metric(scores))
    if scores and scores[0].kind is Kind.UNSEEN_LENGTHS:
        sides = [score for score in scores if score.predicted is not None and score.predicted.both_sides]
        found["both_sides"] = _by_metric(sides)
        rest = [score for score in scores if score.predicted is None or not score.predicted.both_sides]
        found["elsewhere"] = _by_metric(rest)
    return {**found, "rows": len(rows), "refused": _refused_rows(scores)}


def numbers(scores: Sequence[Scored], *, intervals: bool = True) -> Numbers:
    """Return the errors of one metric; None where nothing was predicted.

    ``over_promised_10`` is the share predicted more than a tenth above what was measured. ``width_90`` is the median
    of (high - low) / predicted.
    """
    said = [score for score in scores if score.predicted is not None]
    errors = np.array([score.error for score in said])
    known = bool(said)
    found: Numbers = {
        "n": len(said),
        "refused": len(scores) - len(said),
        "median": float(np.median(np.abs(errors))) if known else None,
        "p90": float(np.quantile(np.abs(errors), 0.9)) if known else None,
        "signed_median": float(np.median(errors)) if known else None,
        "over_promised_10": float(np.mean(errors > _OVER)) if known else None,
    }
    if intervals:
        widths = [score.predicted.width_ratio for score in said if score.predicted is not None]
        found["covered_90"] = float(np.mean([score.covered for score in said])) if known else None
        found["width_90"] = float(np.median(widths)) if known else None
    return found
