"""Ratios that must not fall: far enough below what is measured that a busy machine does not trip them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST: Final = {
    "plan_repeat_vs_echo": 0.4,
    "plan_computed_vs_floor": 0.3,
    "ingest_arrow_vs_insert": 0.12,
    "ingest_batches_vs_insert": 0.06,
    "acks_16_clients_vs_1": 2.0,
}
MOST: Final = {"plan_200k_vs_10k": 2.0}


def fallen(line: Mapping[str, float]) -> list[str]:
    """Return a sentence for each ratio of a quick run that is worse than its floor."""
    below = [f"{name} is {line[name]}, below {least}" for name, least in LEAST.items() if line[name] < least]
    above = [
        f"{name} is {line[name]}, above {most}" for name, most in MOST.items() if name in line and line[name] > most
    ]
    return below + above
