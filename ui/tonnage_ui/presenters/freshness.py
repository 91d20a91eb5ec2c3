"""What still carries a plan: a matrix of configurations and states, and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, enum_word, pb
from tonnage_ui.presenters import configuration as configurations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.words import Words

# Levels of the matrix: 2 measured, 1 not measured, 0 to be run again.
_MEASURED: Final = 2
_MISSING: Final = 1
_TO_RUN: Final = 0
_WORDS: Final = {_MEASURED: "measured", _MISSING: "missing", _TO_RUN: "to_run"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """Configurations downwards, states across; each cell is (column, row, level, label)."""

    states: tuple[str, ...]
    configurations: tuple[str, ...]
    cells: tuple[tuple[int, int, int, str], ...]


def matrix(items: Sequence[pb.RetestItem], words: Words) -> Matrix:
    """Return the matrix of some configurations, the first on top."""
    states = list(dict.fromkeys(enum_word(state, "state") for item in items for state in item.states))
    shown = list(reversed(items))
    cells = [
        (states.index(enum_word(state, "state")), row, level, words(f"coverage.{_WORDS[level]}"))
        for row, item in enumerate(shown)
        for state in item.states
        for level in (_level(item, state),)
    ]
    return Matrix(
        tuple(words.known("state", state) for state in states),
        tuple(configurations.title(item.configuration) for item in shown),
        tuple(cells),
    )


def rows(items: Sequence[pb.RetestItem], words: Words) -> list[dict[str, str]]:
    """Return one row a configuration: verdict, age, what changed, what to run."""
    return [
        {
            words("column.configuration"): configurations.title(item.configuration),
            words("column.verdict_retest"): words.known("retest", enum_word(item, "verdict")),
            words("column.age_days"): numbers.count(count_of(item, "age_days")),
            words("column.changes"): numbers.text(", ".join(change.field for change in item.changes)),
            words("column.states_to_run"): numbers.text(", ".join(_states(item.states_to_run, words))),
        }
        for item in items
    ]


def change_rows(item: pb.RetestItem, words: Words) -> list[dict[str, str]]:
    """Return what differs between what was measured and what is planned, and why it matters."""
    return [
        {
            words("column.field"): change.field,
            words("column.measured"): numbers.text(change.measured),
            words("column.planned"): numbers.text(change.planned),
            words("column.verdict_retest"): words.known("retest", enum_word(change, "verdict")),
            words("column.reason"): change.reason,
        }
        for change in item.changes
    ]


def _level(item: pb.RetestItem, state: pb.StateCoverage) -> int:
    if state.state in item.states_to_run:
        return _TO_RUN
    return _MEASURED if state.covered else _MISSING


def _states(states: Sequence[pb.TestState.ValueType], words: Words) -> list[str]:
    return [words.known("state", pb.TestState.Name(state).removeprefix("TEST_STATE_").lower()) for state in states]
