"""U_total as one stacked bar against its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage_ui.charts.axes import round_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.charts.palette import Palette

Option = dict[str, Any]

_WHOLE: Final = 100.0


def utilization(bars: Sequence[tuple[str, float]], limit_percent: float, limit_name: str, colours: Palette) -> Option:
    """Return the bar of some tenants, percent of the pool."""
    end = round_end(1.05 * max(sum(value for _, value in bars), limit_percent, _WHOLE))
    line = {
        "xAxis": round(limit_percent, 3),
        "lineStyle": {"color": colours.limit, "type": "dashed", "width": 2},
        "label": {
            "formatter": limit_name,
            "position": "end",
            "align": "right",
            "color": colours.limit,
            "fontWeight": "bold",
        },
    }
    return {
        "animation": False,
        "grid": {"left": 12, "right": 24, "top": 72, "bottom": 28, "containLabel": True},
        "legend": {"top": 0, "left": 0, "type": "scroll", "textStyle": {"color": colours.text}},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": {
            "type": "value",
            "min": 0,
            "max": end,
            "axisLabel": {"color": colours.muted, "formatter": "{value} %", "hideOverlap": True},
        },
        "yAxis": {"type": "category", "data": [""], "axisTick": {"show": False}},
        "series": [
            {
                "type": "bar",
                "stack": "total",
                "name": name,
                "data": [round(value, 3)],
                "barWidth": 56,
                "label": {"show": True, "formatter": "{a}", "color": colours.surface, "fontWeight": "bold"},
                "labelLayout": {"hideOverlap": True},
                "itemStyle": {
                    "color": colours.terms[position % len(colours.terms)],
                    "borderColor": colours.surface,
                    "borderWidth": 1,
                },
                "tooltip": {"formatter": "<b>{a}</b><br>{c} %"},
                **({"markLine": {"silent": True, "symbol": "none", "data": [line]}} if position == 0 else {}),
            }
            for position, (name, value) in enumerate(bars)
        ],
    }
