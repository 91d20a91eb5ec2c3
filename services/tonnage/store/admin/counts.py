"""How much a store holds, by namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tonnage.store.admin.frozen import Frozen

Counts = dict[str, dict[str, int]]
"""By namespace: run_count, point_count, report_count, event_count, request_count and plan_count."""

_COUNTED: Final = {
    "runs": ("run_count", "count(*)"),
    "points": ("point_count", "count(*)"),
    "reports": ("report_count", "count(DISTINCT report_id)"),
    "run_events": ("event_count", "count(*)"),
    "requests": ("request_count", "count(*)"),
    "plans": ("plan_count", "count(*)"),
}


def counts_of(store: Frozen) -> Counts:
    """Return the counts of each namespace that holds anything; raises ``duckdb.Error``."""
    nothing = {name: 0 for name, _ in _COUNTED.values()}
    found: Counts = {}
    for table in _COUNTED.keys() & store.tables:
        name, counted = _COUNTED[table]
        for namespace, count in store.rows(f"SELECT namespace, {counted} FROM lake.{table} GROUP BY namespace"):
            found.setdefault(str(namespace), dict(nothing))[name] = int(str(count))
    return dict(sorted(found.items()))


def total(counts: Counts, name: str) -> int:
    """Return one count over all namespaces."""
    return sum(held[name] for held in counts.values())
