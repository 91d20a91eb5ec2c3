"""The VRAM ledger as one stacked bar against the card, and the context x concurrency map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage_ui.charts.axes import round_end

if TYPE_CHECKING:
    from tonnage_ui.charts.palette import Palette
    from tonnage_ui.presenters.memory import FitMap, Ledger
    from tonnage_ui.words import Words

Option = dict[str, Any]

_ROOM: Final = 1.08
_DECIMALS: Final = 3


def ledger(shown: Ledger, colours: Palette, words: Words) -> Option:
    """Return the stacked bar of one accelerator, GiB, with the card and the engine's budget as lines."""
    need = sum(slice_.gib for slice_ in shown.slices)
    end = round_end(_ROOM * max(need, shown.total_gib))
    lines = [
        _line(shown.total_gib, words("chart.card", size=f"{shown.total_gib:.2f}"), colours.text, "solid", 24),
        _line(shown.budget_gib, words("chart.budget", size=f"{shown.budget_gib:.2f}"), colours.limit, "dashed", 5),
    ]
    return {
        "animation": False,
        "grid": {"left": 12, "right": 24, "top": 84, "bottom": 40, "containLabel": True},
        "legend": {"top": 0, "left": 0, "type": "scroll", "textStyle": {"color": colours.text}},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": {
            "type": "value",
            "min": 0,
            "max": end,
            "name": words("chart.gib_per_accelerator"),
            "nameLocation": "center",
            "nameGap": 36,
            "axisLabel": {"color": colours.muted, "hideOverlap": True},
        },
        "yAxis": {"type": "category", "data": [shown.rank], "axisLabel": {"show": False}, "axisTick": {"show": False}},
        "series": [
            {
                "type": "bar",
                "stack": "need",
                "name": slice_.name,
                "data": [round(slice_.gib, 4)],
                "barWidth": 56,
                "itemStyle": {
                    "color": colours.terms[position % len(colours.terms)],
                    "borderColor": colours.surface,
                    "borderWidth": 1,
                },
                "tooltip": {"formatter": f"<b>{slice_.name}</b><br>{slice_.detail}<br>{slice_.origin}"},
                **({"markLine": {"silent": True, "symbol": "none", "data": lines}} if position == 0 else {}),
            }
            for position, slice_ in enumerate(shown.slices)
        ],
    }


def fit_map(shown: FitMap, colours: Palette, words: Words) -> Option:
    """Return the map of request length x concurrency: fits, tight, does not fit."""
    cells = [[cell.column, cell.row, cell.level, cell.label] for cell in shown.cells]
    return {
        "animation": False,
        "grid": {"left": 12, "right": 12, "top": 40, "bottom": 40, "containLabel": True},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": {
            "type": "category",
            "data": list(shown.lengths),
            "name": words("chart.request_tokens"),
            "nameLocation": "center",
            "nameGap": 28,
            "axisLabel": {"color": colours.muted},
        },
        "yAxis": {
            "type": "category",
            "data": list(shown.concurrencies),
            "name": words("chart.concurrency"),
            "nameTextStyle": {"color": colours.muted, "align": "left"},
            "axisLabel": {"color": colours.muted},
        },
        "visualMap": {
            "type": "piecewise",
            "dimension": 2,
            "orient": "horizontal",
            "top": 0,
            "right": 0,
            "textStyle": {"color": colours.text},
            "pieces": [
                {"value": 2, "label": words("fit.fits"), "color": colours.inside},
                {"value": 1, "label": words("fit.tight"), "color": colours.terms[1]},
                {"value": 0, "label": words("fit.does_not_fit"), "color": colours.outside},
            ],
        },
        "series": [
            {
                "type": "heatmap",
                "dimensions": ["x", "y", "level", "label"],
                "data": cells,
                "label": {"show": True, "formatter": "{@label}", "color": colours.surface, "fontWeight": "bold"},
                "itemStyle": {"borderColor": colours.surface, "borderWidth": 2},
                "tooltip": {"formatter": words("chart.map_tooltip")},
            }
        ],
    }


def _line(at: float, label: str, colour: str, kind: str, distance: int) -> Option:
    return {
        "xAxis": round(at, _DECIMALS),
        "lineStyle": {"color": colour, "type": kind, "width": 2},
        "label": {
            "formatter": label,
            "position": "end",
            "distance": distance,
            "align": "right",
            "color": colour,
            "fontWeight": "bold",
        },
    }
