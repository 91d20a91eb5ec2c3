"""The store's state in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage_ui import numbers
from tonnage_ui.presenters.plan import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words


def store_figures(
    summaries: Sequence[pb.ConfigurationSummary], total_count: int, data_version: int, words: Words
) -> list[Figure]:
    """Return how much was measured, of what, and how new it is."""
    models = {summary.configuration.model for summary in summaries if summary.configuration.model}
    newest = max((summary.newest_measured_date for summary in summaries), default="")
    return [
        Figure(words("home.configurations"), numbers.count(total_count), words("home.configurations_help")),
        Figure(words("home.models"), numbers.count(len(models)), words("home.models_help")),
        Figure(
            words("home.levels"),
            numbers.count(sum(summary.level_count for summary in summaries)),
            words("home.levels_help"),
        ),
        Figure(words("home.newest"), numbers.text(newest), words("home.newest_help")),
        Figure(words("home.data_version"), numbers.count(data_version), words("home.data_version_help")),
    ]
