"""The latency-throughput picture: measured loads, the SLO line, Q_slo, the crossing, the knee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage_ui import numbers
from tonnage_ui.charts.axes import decade_below, round_end
from tonnage_ui.presenters.curve import latency_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tonnage_ui.charts.palette import Palette
    from tonnage_ui.presenters.curve import CurvePicture, Mark
    from tonnage_ui.words import Words

Option = dict[str, Any]

_SYMBOLS: Final = {"inside": "circle", "outside": "triangle", "open": "circle", "barred": "emptyDiamond"}
_LOG_FROM_RATIO: Final = 30
_DETAIL_COUNT: Final = 5
_LABEL_PLACES: Final = {
    ("yAxis", "dashed"): "insideStartTop",
    ("xAxis", "solid"): "end",
    ("xAxis", "dotted"): "insideEndTop",
}
_LINE_TYPES: Final = ("solid", "dashed", "dotted")


def latency_throughput(pictures: Sequence[CurvePicture], colours: Palette, words: Words) -> Option:
    """Return the chart of one curve, or of several of the same latency laid over each other."""
    first = pictures[0]
    return {
        "animation": False,
        "grid": {"left": 12, "right": 28, "top": 64, "bottom": 36, "containLabel": True},
        "legend": {"top": 0, "left": 0, "type": "scroll", "itemGap": 14, "textStyle": {"color": colours.text}},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": _axis(words("chart.throughput"), "center", 28, colours, maximum=_x_end(pictures)),
        "yAxis": _y_axis(pictures, latency_name(first.metric, first.statistic, words), colours, words),
        "series": [
            series
            for position, picture in enumerate(pictures)
            for series in _curve_series(picture, position, colours, words)
        ],
    }


def _axis(name: str, place: str, gap: int, colours: Palette, *, maximum: float | None) -> Option:
    axis: Option = {
        "type": "value",
        "name": name,
        "nameLocation": place,
        "nameGap": gap,
        "nameTextStyle": {"color": colours.muted},
        "axisLabel": {"color": colours.muted, "hideOverlap": True},
        "splitLine": {"lineStyle": {"opacity": 0.35}},
        "min": 0,
    }
    if maximum is not None:
        axis["max"] = maximum
    return axis


def _y_axis(pictures: Sequence[CurvePicture], name: str, colours: Palette, words: Words) -> Option:
    latencies = [mark.latency_ms for picture in pictures for mark in picture.marks]
    limits = [picture.limit_ms for picture in pictures if picture.limit_ms is not None]
    axis = _axis(f"{name} ({words('unit.ms')})", "end", 14, colours, maximum=None)
    axis["nameTextStyle"] = {"color": colours.muted, "align": "left"}
    shown = [*latencies, *limits]
    if min(shown) > 0 and max(shown) / min(shown) > _LOG_FROM_RATIO:
        axis |= {"type": "log", "min": decade_below(min(shown))}
        axis["name"] += f", {words('chart.log_axis')}"
    else:
        axis["max"] = round_end(1.08 * max(shown))
    return axis


def _x_end(pictures: Sequence[CurvePicture]) -> float:
    rates = [mark.requests_per_s for picture in pictures for mark in picture.marks]
    marks = [
        rate
        for picture in pictures
        for rate in (picture.q_slo_requests_per_s, picture.crossing_requests_per_s)
        if rate is not None
    ]
    return round_end(1.12 * max([*rates, *marks]))


def _curve_series(picture: CurvePicture, position: int, colours: Palette, words: Words) -> Iterable[Option]:
    line_colour = colours.muted if position == 0 else colours.terms[position % len(colours.terms)]
    yield {
        "type": "line",
        "name": picture.name or words("chart.measured"),
        "data": [[mark.requests_per_s, mark.latency_ms] for mark in picture.marks],
        "showSymbol": False,
        "silent": True,
        "lineStyle": {"width": 2, "color": line_colour, "type": _LINE_TYPES[position % len(_LINE_TYPES)]},
        "itemStyle": {"color": line_colour},
        "z": 2,
        "markLine": _lines(picture, colours, words),
    }
    by_state = {"inside": colours.inside, "outside": colours.outside, "open": line_colour, "barred": colours.muted}
    for state, colour in by_state.items():
        marks = [mark for mark in picture.marks if mark.state == state]
        if marks:
            name = f"{picture.name} {words(f'mark.{state}')}".strip()
            yield _scatter(name, marks, _SYMBOLS[state], colour, colours)
    yield from _special_marks(picture, colours, words)


def _scatter(name: str, marks: list[Mark], symbol: str, colour: str, colours: Palette) -> Option:
    dimensions = ["x", "y", "load", *(f"d{position}" for position in range(_DETAIL_COUNT))]
    return {
        "type": "scatter",
        "name": name,
        "symbol": symbol,
        "symbolSize": 12,
        "itemStyle": {"color": colour},
        "dimensions": dimensions,
        "encode": {"x": "x", "y": "y"},
        "data": [[mark.requests_per_s, mark.latency_ms, mark.load, *mark.details] for mark in marks],
        "label": {
            "show": True,
            "formatter": "{@load}",
            "position": ["-60%", "-120%"],
            "color": colours.text,
            "fontSize": 12,
        },
        "labelLayout": {"hideOverlap": True},
        "tooltip": {"formatter": "<b>{a} · {@load}</b><br>" + "<br>".join(f"{{@{key}}}" for key in dimensions[3:])},
        "z": 5,
    }


def _lines(picture: CurvePicture, colours: Palette, words: Words) -> Option:
    lines: list[Option] = []
    if picture.limit_ms is not None:
        shown = numbers.number(picture.limit_ms, words("unit.ms"))
        name = latency_name(picture.metric, picture.statistic, words)
        lines.append(_line("yAxis", picture.limit_ms, f"SLO: {name} ≤ {shown}", colours.limit, "dashed"))
    if picture.q_slo_requests_per_s is not None:
        sign = "≥ " if picture.at_least else ""
        shown = numbers.number(picture.q_slo_requests_per_s, words("unit.requests_per_s"))
        lines.append(_line("xAxis", picture.q_slo_requests_per_s, f"Q_slo {sign}{shown}", colours.capacity, "solid"))
    if picture.knee_requests_per_s is not None:
        lines.append(_line("xAxis", picture.knee_requests_per_s, words("chart.knee"), colours.muted, "dotted"))
    return {"silent": True, "symbol": "none", "animation": False, "data": lines}


def _line(axis: str, at: float, label: str, colour: str, kind: str) -> Option:
    return {
        axis: at,
        "lineStyle": {"color": colour, "type": kind, "width": 2 if kind != "dotted" else 1.5},
        "label": {
            "formatter": label,
            "position": _LABEL_PLACES[axis, kind],
            "color": colour,
            "fontWeight": "bold",
            "fontSize": 12,
        },
    }


def _special_marks(picture: CurvePicture, colours: Palette, words: Words) -> Iterable[Option]:
    if picture.crossing_requests_per_s is not None and picture.limit_ms is not None:
        shown = numbers.number(picture.crossing_requests_per_s, words("unit.requests_per_s"))
        yield _single(
            words("chart.crossing"), [picture.crossing_requests_per_s, picture.limit_ms], "diamond", shown, colours
        )
    if picture.at_least and picture.marks:
        last = max(picture.marks, key=lambda mark: mark.requests_per_s)
        series = _single(words("chart.no_miss"), [last.requests_per_s, last.latency_ms], "arrow", "", colours)
        yield series | {"symbolRotate": -90, "symbolOffset": [18, 0], "itemStyle": {"color": colours.capacity}}


def _single(name: str, at: list[float], symbol: str, label: str, colours: Palette) -> Option:
    return {
        "type": "scatter",
        "name": name,
        "symbol": symbol,
        "symbolSize": 15,
        "data": [at],
        "itemStyle": {"color": colours.crossing, "borderColor": colours.surface, "borderWidth": 1},
        "label": {
            "show": bool(label),
            "formatter": label,
            "position": ["125%", "95%"],
            "color": colours.crossing,
            "fontWeight": "bold",
        },
        "tooltip": {"formatter": f"{{a}}<br>{label}"},
        "z": 6,
    }
