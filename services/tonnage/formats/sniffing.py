"""Which reader a file is for, by content; refusals that say what was seen and what to do."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

from tonnage.errors import AmbiguousFormat, FieldViolation, UnknownFormat, UnknownName, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.formats.base import Format, Head, Match, Source

MAPPED_FORMAT: Final = "tonnage-table"
_MAPPABLE: Final = frozenset({"table", "json-lines", "json-array", "parquet"})
_SHOWN_KEY_COUNT: Final = 12


def chosen(source: Source, formats: Sequence[Format], wanted: str | None) -> Format:
    """Return the reader of a file; an explicit column map makes a table ours.

    Raises ``UnknownName`` for a wanted format that does not exist, ``AmbiguousFormat`` when two claim the file
    equally, ``UnknownFormat`` when none does or the wanted one cannot be.
    """
    if source.column_map and source.head.kind in _MAPPABLE and wanted in {None, "", MAPPED_FORMAT}:
        return _named(MAPPED_FORMAT, formats)
    if wanted:
        return _fitting(_named(wanted, formats), source)
    claims = [(match, reader) for reader in formats if (match := reader.recognises(source.head)) is not None]
    if not claims:
        raise _unknown(source, formats)
    best = max(match.score for match, _ in claims)
    sure = [claim for claim in claims if claim[0].score == best]
    if len(sure) > 1:
        raise _ambiguous(sure)
    return sure[0][1]


def _named(wanted: str, formats: Sequence[Format]) -> Format:
    names = [reader.name for reader in formats]
    if wanted in names:
        return formats[names.index(wanted)]
    near = difflib.get_close_matches(wanted, names, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise UnknownName(
        f"format: no reader is named {shown(wanted)}{hint}; known are {', '.join(names)}", name=shown(wanted)
    )


def _fitting(reader: Format, source: Source) -> Format:
    """Return the named reader if the file can be its; a name does not make a file another tool's."""
    if reader.recognises(source.head) is None:
        cure = f"it is told by {reader.recognised_by}; leave the format out to let the content decide"
        violation = FieldViolation("format", _seen(source), f"is not of {reader.name}", cure)
        raise UnknownFormat(str(violation), violations=(violation,), format=reader.name)
    return reader


def _ambiguous(claims: Sequence[tuple[Match, Format]]) -> AmbiguousFormat:
    said = "; ".join(f"{reader.name} ({match.why})" for match, reader in claims)
    violation = FieldViolation("format", said, "fits several readers alike", "name the format of the file")
    return AmbiguousFormat(str(violation), violations=(violation,), candidates=", ".join(r.name for _, r in claims))


def _unknown(source: Source, formats: Sequence[Format]) -> UnknownFormat:
    head = source.head
    seen = set(head.keys) | set(head.columns)
    found = _seen(source)
    cure = [_closest(seen, formats)] if seen else []
    if head.kind in _MAPPABLE:
        cure.append("or map its columns to ours (--map requests_per_s=THEIRS …)")
    cure.append("accepted: " + ", ".join(reader.name for reader in formats))
    violation = FieldViolation("report", found, "is of no load tool we read", "; ".join(part for part in cure if part))
    return UnknownFormat(str(violation), violations=(violation,), seen=found)


def _seen(source: Source) -> str:
    head = source.head
    return f"{head.kind}{_listed(set(head.keys) | set(head.columns), head)}"


def _listed(seen: set[str], head: Head) -> str:
    if not seen:
        return f" starting {shown(head.text[:80])}" if head.text else ""
    names = sorted(seen)[:_SHOWN_KEY_COUNT]
    more = f" and {len(seen) - len(names)} more" if len(seen) > len(names) else ""
    return f" with {', '.join(shown(name) for name in names)}{more}"


def _closest(seen: set[str], formats: Sequence[Format]) -> str:
    best: tuple[float, str, list[str]] = (0.0, "", [])
    for reader in formats:
        for expected in reader.expects:
            share = len(seen & set(expected)) / len(expected)
            if share > best[0]:
                best = (share, reader.name, sorted(set(expected) - seen))
    share, name, missing = best
    if not share:
        return ""
    lacks = f"lacks {', '.join(missing)}" if missing else "has its keys in another place"
    return f"closest is {name}: the file {lacks}"
