"""How counts or cost move with what is varied, as steps; what cannot be served is a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tonnage_ui.charts.palette import Palette
    from tonnage_ui.presenters.explore import WhatIf

Option = dict[str, Any]


def what_if(shown: WhatIf, colours: Palette, *, log_axis: bool) -> Option:
    """Return the chart of one figure over one thing that is varied."""
    return {
        "animation": False,
        "grid": {"left": 12, "right": 28, "top": 56, "bottom": 36, "containLabel": True},
        "legend": {"top": 0, "left": 0, "type": "scroll", "textStyle": {"color": colours.text}},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": {
            "type": "log" if log_axis else "value",
            "scale": True,
            "name": shown.varied,
            "nameLocation": "center",
            "nameGap": 28,
            "nameTextStyle": {"color": colours.muted},
            "axisLabel": {"color": colours.muted, "hideOverlap": True},
        },
        "yAxis": {
            "type": "value",
            "min": 0,
            "name": shown.shown,
            "nameTextStyle": {"color": colours.muted, "align": "left"},
            "axisLabel": {"color": colours.muted},
        },
        "series": [
            {
                "type": "line",
                "name": line.name or shown.shown,
                "connectNulls": False,
                "symbol": ("circle", "triangle", "rect", "diamond")[position % 4],
                "symbolSize": 9,
                "lineStyle": {"width": 2, "type": ("solid", "dashed", "dotted")[position % 3]},
                "itemStyle": {"color": colours.terms[position % len(colours.terms)]},
                "dimensions": ["x", "y", "label"],
                "encode": {"x": "x", "y": "y"},
                "data": [list(point) for point in line.points],
                "tooltip": {"formatter": "<b>{a}</b><br>{@x}: {@y}<br>{@label}"},
            }
            for position, line in enumerate(shown.lines)
        ],
    }
