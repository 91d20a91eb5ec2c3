"""Ids that follow from content: the same bytes and labels give the same run wherever they are read."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.measurement import Run

Pairs = tuple[tuple[str, str], ...]


def run_id(report_id: str, given: Pairs, ordinal: int) -> str:
    """Return uuid5 of the labels and the position in the file, within the namespace its digest seeds."""
    seed = uuid.UUID(hex=report_id[:32])
    return str(uuid.uuid5(seed, _canonical([given, ordinal])))


def record_id(run: Run) -> str:
    """Return the SHA-256 of a run that came without a file, over all it says and none of the keys."""
    bare = replace(
        run,
        namespace="",
        run_id="",
        report_id="",
        ordinal=0,
        ingested_at=None,
        ingested_by=None,
        ci_job=None,
    )
    return hashlib.sha256(_canonical(asdict(bare)).encode()).hexdigest()


def body_digest(*parts: object) -> str:
    """Return the SHA-256 of everything a caller sent."""
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()


def canonical_pairs(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return pairs in order of their keys."""
    return tuple(sorted(pairs))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_text)


def _text(value: Any) -> str:  # noqa: ANN401 -- whatever json does not know; here datetimes alone
    text: str = value.isoformat()
    return text
