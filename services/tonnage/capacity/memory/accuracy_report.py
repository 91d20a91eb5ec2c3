"""What a check against logs comes to: scores, verdicts, rows not judged, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

TERMS: Final = ("weights_gib", "kv_cache_gib", "kv_cache_tokens", "max_concurrency")
GIVEN_POOL: Final = " from the logged pool"
"""Marks terms that were predicted from the pool the engine logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One prediction beside what was logged; ``error`` is predicted / logged - 1."""

    id: str
    term: str
    predicted: float
    logged: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Return predicted / logged - 1."""
        return self.predicted / self.logged - 1

    @property
    def covered(self) -> bool:
        """Tell whether the logged value lies in the interval; half a unit in the last logged place is allowed."""
        slack = 0.005 if self.term.endswith("_gib") else 0.005 * self.logged
        return self.low - slack <= self.logged <= self.high + slack


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSummary:
    """Absolute errors of a term as fractions."""

    n: int
    median: float
    p90: float
    mean_abs: float
    covered_90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictScore:
    """One verdict beside what happened."""

    id: str
    started: bool
    right: bool
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A row, or a term of it, that was not judged, and the input it lacks."""

    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was judged."""

    scores: tuple[Score, ...]
    verdicts: tuple[VerdictScore, ...]
    skipped: tuple[Skipped, ...]

    def summary(self, term: str) -> TermSummary | None:
        """Return the errors of a term; None when no row has it."""
        found = [score for score in self.scores if score.term == term]
        if not found:
            return None
        errors = np.abs([score.error for score in found])
        return TermSummary(
            n=len(found),
            median=float(np.median(errors)),
            p90=float(np.quantile(errors, 0.9)),
            mean_abs=float(np.mean(errors)),
            covered_90=float(np.mean([score.covered for score in found])),
        )

    @property
    def balanced_accuracy(self) -> float | None:
        """Return the mean of the right shares among starts and among failures; None without one of them."""
        shares = []
        for started in (True, False):
            found = [item.right for item in self.verdicts if item.started is started]
            if not found:
                return None
            shares.append(sum(found) / len(found))
        return sum(shares) / len(shares)

    def as_json(self) -> dict[str, object]:
        """Return plain values: errors as fractions, skipped rows with their reason."""
        names = [*TERMS, *(term + GIVEN_POOL for term in ("kv_cache_tokens", "max_concurrency"))]
        terms = {name: _plain(self.summary(name)) for name in names if self.summary(name) is not None}
        right = sum(item.right for item in self.verdicts)
        return {
            "terms": terms,
            "verdicts": {
                "right": right,
                "wrong": len(self.verdicts) - right,
                "balanced_accuracy": self.balanced_accuracy,
            },
            "skipped": [{"id": item.id, "why": item.why} for item in self.skipped],
        }


def _plain(found: TermSummary | None) -> dict[str, float | int]:
    assert found is not None  # noqa: S101 -- the caller asked for terms that have a summary
    return {
        "n": found.n,
        "median": found.median,
        "p90": found.p90,
        "mean_abs": found.mean_abs,
        "covered_90": found.covered_90,
    }
