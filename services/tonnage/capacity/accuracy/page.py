"""The accuracy report of curves as Markdown, with the aims beside what was reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.capacity.accuracy.curves import Q_SLO, Q_SLO_FIXED
from tonnage.capacity.accuracy.summary import Numbers, as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tonnage.capacity.accuracy.curves import CurveReport

_TITLES: Final = {
    "throughput": "output tokens/s",
    "ttft": "TTFT",
    "tpot": "TPOT",
    "ttft_p99": "TTFT p99",
    "tpot_p99": "TPOT p99",
}
_AIMS: Final[dict[tuple[str, str], tuple[float, float]]] = {
    ("Between measured loads", "throughput"): (0.03, 0.12),
    ("Between measured loads", "ttft"): (0.05, 0.50),
    ("Between measured loads", "tpot"): (0.03, 0.12),
    ("Lengths between measured ones", "throughput"): (0.03, 0.14),
    ("Lengths between measured ones", "ttft"): (0.06, 0.30),
    ("Lengths between measured ones", "tpot"): (0.02, 0.12),
    ("Other lengths", "throughput"): (0.08, 0.40),
    ("Other lengths", "tpot"): (0.07, 0.30),
}
_Q_SLO_AIM: Final = (0.02, 0.08)
_OVER_AIM: Final = 0.01
_HEAD: Final = (
    "| figure | rows | refused | median error | p90 | over by a tenth | in the 90 % interval | its width | aim |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)


def page(report: CurveReport) -> str:
    """Return the report as one Markdown page."""
    found = as_json(report)
    kinds = found["by_kind"]
    assert isinstance(kinds, dict)  # noqa: S101 -- made by as_json
    lines = ["# How well curves are predicted", "", _words(found), ""]
    lines += _section("Between measured loads", kinds["between-loads"])
    lines += _q_slo(found[Q_SLO], found[Q_SLO_FIXED])
    lengths = kinds["unseen-lengths"]
    lines += _section("Lengths between measured ones", lengths.get("both_sides", {}))
    lines += _section("Other lengths", lengths.get("elsewhere", {}))
    lines += _section("Configurations not measured", kinds["unseen-configuration"])
    lines += _refusals(found["refusals"])
    return "\n".join(lines)


def _words(found: Mapping[str, object]) -> str:
    left = found["leave_out"]
    assert isinstance(left, list)  # noqa: S101 -- made by as_json
    how = f"leaving out {', '.join(left)} in turn" if left else "rows of the test file alone"
    return (
        f"Made by `tonnage accuracy curves`, {how}: {found['rows']} rows judged, {found['refused']} of them refused\n"
        "in throughput, TTFT or TPOT. Errors are the size of predicted / measured less 1, an aim is of median and\n"
        "p90; a width is (high less low) / predicted of the nominal 90 % interval, at the median. What was left out\n"
        "is gone from every source. How it is predicted stands in `method.md`."
    )


def _section(title: str, metrics: Mapping[str, Numbers]) -> list[str]:
    rows = [
        _row(words, metrics[name], _AIMS.get((title, name)))
        for name, words in _TITLES.items()
        if name in metrics and metrics[name]["n"]
    ]
    return [f"## {title}", "", *_HEAD, *rows, ""] if rows else []


def _q_slo(own: object, fixed: object) -> list[str]:
    assert isinstance(own, dict)  # noqa: S101 -- made by as_json
    assert isinstance(fixed, dict)  # noqa: S101 -- made by as_json
    if not own["n"]:
        return []
    over = "kept" if own["over_promised_10"] < _OVER_AIM else "missed"
    words = (
        "Policy *interpolated* on a curve that lacks one inner load. At its own latencies: the SLO is made of the\n"
        "TTFT and TPOT of the load left out: the crossing lies wherever it was. At usual limits: TPOT of 20, 30, 50\n"
        "and 100 ms with TTFT of 2 s, the load left out beside the crossing, against the whole curve's crossing.\n"
        f"The aim of under {_share(_OVER_AIM)} over by a tenth is {over}."
    )
    rows = [_row("Q_slo, own latencies", own, _Q_SLO_AIM)]
    rows += [_row("Q_slo, usual limits", fixed, _Q_SLO_AIM)] if fixed["n"] else []
    return ["## Q_slo", "", words, "", *_HEAD, *rows, ""]


def _row(words: str, numbers: Numbers, aim: tuple[float, float] | None) -> str:
    median, p90 = numbers["median"] or 0.0, numbers["p90"] or 0.0
    verdict = ""
    if aim is not None:
        kept = median <= aim[0] and p90 <= aim[1]
        verdict = f"{_share(aim[0])}, {_share(aim[1])}: {'kept' if kept else 'missed'}"
    cells = [words, str(numbers["n"]), str(numbers["refused"])]
    cells += [_share(numbers.get(name)) for name in ("median", "p90", "over_promised_10", "covered_90", "width_90")]
    return f"| {' | '.join((*cells, verdict))} |"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _refusals(reasons: object) -> Iterable[str]:
    assert isinstance(reasons, dict)  # noqa: S101 -- made by as_json
    rows = [f"| {count} | {why} |" for why, count in reasons.items()]
    return ["## Most frequent refusals", "", "| figures | why |", "| --- | --- |", *rows, ""] if rows else []
