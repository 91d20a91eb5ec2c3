"""The freshness matrix: configurations downwards, states across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tonnage_ui.charts.palette import Palette
    from tonnage_ui.presenters.freshness import Matrix
    from tonnage_ui.words import Words

Option = dict[str, Any]


def matrix(shown: Matrix, colours: Palette, words: Words) -> Option:
    """Return the matrix; each cell says in words what its colour means."""
    pieces = ((2, "measured", colours.inside), (1, "missing", colours.terms[5]), (0, "to_run", colours.outside))
    return {
        "animation": False,
        "grid": {"left": 12, "right": 12, "top": 40, "bottom": 12, "containLabel": True},
        "tooltip": {"trigger": "item", "confine": True},
        "xAxis": {
            "type": "category",
            "position": "top",
            "data": list(shown.states),
            "axisLabel": {"color": colours.muted},
        },
        "yAxis": {
            "type": "category",
            "data": list(shown.configurations),
            "axisLabel": {"color": colours.muted, "width": 320, "overflow": "truncate"},
        },
        "visualMap": {
            "type": "piecewise",
            "dimension": 2,
            "show": False,
            "pieces": [
                {"value": level, "label": words(f"coverage.{name}"), "color": colour} for level, name, colour in pieces
            ],
        },
        "series": [
            {
                "type": "heatmap",
                "dimensions": ["x", "y", "level", "label"],
                "data": [list(cell) for cell in shown.cells],
                "label": {"show": True, "formatter": "{@label}", "color": colours.surface, "fontWeight": "bold"},
                "itemStyle": {"borderColor": colours.surface, "borderWidth": 2},
                "tooltip": {"formatter": "{@label}"},
            }
        ],
    }
