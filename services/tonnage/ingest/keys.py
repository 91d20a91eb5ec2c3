"""Ids that follow from content: the same bytes and labels give the same run wherever they are read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.domain.measurement import Run

Pairs = tuple[tuple[str, str], ...]


def run_id(report_id: str, given: Pairs, ordinal: int) -> str:
    """Return uuid5 of the labels and the position in the file, within the namespace its digest seeds."""
    return _uuid5(bytes.fromhex(report_id[:32]), canonical([given, ordinal]))


def run_ids(report_ids: Iterable[str]) -> list[str]:
    """Return the ids of runs that came without a file and without labels."""
    name = canonical([(), 0])
    return [_uuid5(bytes.fromhex(report_id[:32]), name) for report_id in report_ids]


def _uuid5(namespace: bytes, name: str) -> str:
    """Return what ``str(uuid.uuid5(...))`` does (RFC 9562, section 5.5), without its objects."""
    held = bytearray(hashlib.sha1(namespace + name.encode(), usedforsecurity=False).digest()[:16])
    held[6] = held[6] & 0x0F | 0x50
    held[8] = held[8] & 0x3F | 0x80
    text = held.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def record_id(run: Run) -> str:
    """Return the SHA-256 of a run that came without a file, over all it says and none of the keys."""
    return record_digest(canonical(asdict(bare(run))))


def bare(run: Run) -> Run:
    """Return a run without its keys and without who sent it."""
    return replace(
        run, namespace="", run_id="", report_id="", ordinal=0, ingested_at=None, ingested_by=None, ci_job=None
    )


def record_digest(text: str) -> str:
    """Return the SHA-256 of the canonical text of a run."""
    return hashlib.sha256(text.encode()).hexdigest()


def body_digest(*parts: object) -> str:
    """Return the SHA-256 of everything a caller sent."""
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def canonical_pairs(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return pairs in order of their keys."""
    return tuple(sorted(pairs))


def canonical(value: object) -> str:
    """Return one text for one value: keys sorted, no spaces, moments in ISO 8601."""
    return _ENCODER.encode(value)


def _text(value: Any) -> str:  # noqa: ANN401 -- whatever json does not know; here datetimes alone
    text: str = value.isoformat()
    return text


# One encoder for all: making one costs more than a short text.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_text)
