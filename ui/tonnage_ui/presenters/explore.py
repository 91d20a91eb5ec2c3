"""What-ifs as lines and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, number_of, pb
from tonnage_ui.presenters import configuration as configurations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage_ui.words import Words

SHOWN: Final = ("replicas", "servers", "accelerators", "cost")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the picture; a point that cannot be served has None for y and is a gap."""

    name: str
    points: tuple[tuple[float, float | None, str], ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """How a figure moves with what is varied."""

    varied: str
    shown: str
    lines: tuple[Line, ...]


def what_if(
    points: Sequence[pb.ExplorePlansResponse], varied: str, line_name: Callable[[float], str], shown: str, words: Words
) -> WhatIf:
    """Return the lines of one figure: along the first axis, a line for each value of the second."""
    by_line: dict[float | None, list[pb.ExplorePlansResponse]] = {}
    for point in points:
        by_line.setdefault(point.values[1] if len(point.values) > 1 else None, []).append(point)
    lines = tuple(
        Line(
            "" if value is None else line_name(value),
            tuple((point.values[0], figure(point, shown), _label(point)) for point in members),
        )
        for value, members in by_line.items()
    )
    return WhatIf(varied, words(f"explore_shown.{shown}"), lines)


def figure(point: pb.ExplorePlansResponse, shown: str) -> float | None:
    """Return the figure that is drawn, or None where nothing serves this point or the figure is not known."""
    if not point.HasField("best"):
        return None
    best = point.best
    if shown == "cost":
        return number_of(best.cost.per_hour, "amount")
    if shown == "accelerators":
        return count_of(best.count, "accelerator_count")
    return best.count.replica_count if shown == "replicas" else best.count.server_count


def rows(points: Sequence[pb.ExplorePlansResponse], names: Sequence[str], words: Words) -> list[dict[str, str]]:
    """Return one row a point: what was varied, what it comes to, and why not."""
    return [
        {
            **{name: numbers.number(value) for name, value in zip(names, point.values, strict=True)},
            words("column.verdict_plan"): words.known("verdict", enum_word(point, "verdict")),
            **{words(f"explore_shown.{shown}"): _shown(point, shown) for shown in SHOWN},
            words("column.configuration"): _label(point) or numbers.DASH,
            words("column.reason"): numbers.text(point.reason),
        }
        for point in points
    ]


def unserved_count(points: Sequence[pb.ExplorePlansResponse]) -> int:
    """Return how many points nothing measured serves."""
    return sum(not point.HasField("best") for point in points)


def _shown(point: pb.ExplorePlansResponse, shown: str) -> str:
    value = figure(point, shown)
    if value is None:
        return numbers.DASH
    at_most = "≤ " if point.best.upper_bound and shown != "cost" else ""
    return f"{at_most}{value:,.2f}" if shown == "cost" else f"{at_most}{value:,.0f}"


def _label(point: pb.ExplorePlansResponse) -> str:
    return configurations.title(point.best.configuration, with_model=False) if point.HasField("best") else ""
