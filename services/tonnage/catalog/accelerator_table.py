"""Accelerators and the many ways their names are written."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from tonnage.catalog import table
from tonnage.catalog.near import near_names
from tonnage.domain.hardware import Accelerator
from tonnage.errors import AmbiguousName, InvalidInput, UnknownName
from tonnage.units import KIB, gib_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE: Final = "accelerators.csv"
COLUMNS: Final = (
    "id",
    "name",
    "vendor",
    "architecture",
    "memory_sold_gb",
    "usable_low_gib",
    "usable_high_gib",
    "memory_bandwidth_gb_per_s",
    "bf16_dense_tflops",
    "fp8_dense_tflops",
    "reported_mib",
    "aliases",
    "source",
    "note",
)

_VENDOR_WORDS: Final = frozenset({"nvidia", "amd", "intel", "tesla", "geforce", "instinct", "radeon", "gpu"})
_SLICE_WORD: Final = "mig"
_FORM_WORDS: Final = frozenset({"sxm", "pcie", "nvl", "rtx", "hbm2", "hbm2e", "hbm3", "hbm3e", "oam", "mig"})
# nvidia-smi shows up to 2 % more than a process may use; sold sizes are rounded.
_REPORTED_SLACK_BELOW: Final = 0.97
_REPORTED_SLACK_ABOVE: Final = 1.03

Words = frozenset[str]


def _words(name: str) -> Words:
    """Return the words of a name, order and vendor dropped, sxm4 and sxm5 taken as sxm."""
    text = re.sub(r"[\s_\-/(),]+", " ", name.lower())
    text = re.sub(r"(\d+) ?(?:gb|gib|g)\b", r"\1gb", text)
    text = re.sub(r"\bsxm\d\b", "sxm", text)
    text = re.sub(r"\bpci\b", "pcie", text)
    return frozenset(word for word in text.split() if word not in _VENDOR_WORDS)


def _bytes(row: table.Row, column: str) -> int | None:
    value = row.number(column)
    return None if value is None else gib_to_bytes(value)


def _accelerator(row: table.Row) -> Accelerator:
    low, high = _bytes(row, "usable_low_gib"), _bytes(row, "usable_high_gib")
    if low is not None and high is not None and low > high:
        raise InvalidInput.field(
            f"{row.path}.usable_low_gib", row.text("usable_low_gib"), "is above the high end", "swap"
        )
    return Accelerator(
        id=row.required("id"),
        name=row.required("name"),
        vendor=row.required("vendor"),
        architecture=row.text("architecture") or None,
        memory_sold_gb=row.number("memory_sold_gb"),
        usable_low_bytes=low,
        usable_high_bytes=high,
        memory_bandwidth_gb_per_s=row.number("memory_bandwidth_gb_per_s"),
        bf16_dense_tflops=row.number("bf16_dense_tflops"),
        fp8_dense_tflops=row.number("fp8_dense_tflops"),
        aliases=tuple(alias.strip() for alias in row.text("aliases").split(";") if alias.strip()),
        source=row.required("source"),
        note=row.text("note"),
    )


def read(text: str) -> tuple[Accelerator, ...]:
    """Return the accelerators of a catalog file's text, by id; refuse names that mean two cards."""
    found = sorted((_accelerator(row) for row in table.rows(text, FILE, COLUMNS)), key=lambda item: item.id)
    owners: dict[Words, str] = {}
    for item in found:
        for name in _names(item):
            owner = owners.setdefault(_words(name), item.id)
            if owner != item.id:
                raise InvalidInput.field(f"{FILE}.aliases", name, f"means {owner} and {item.id}", "remove it from one")
    return tuple(found)


def _names(item: Accelerator) -> Iterator[str]:
    yield item.id
    yield item.name
    yield from item.aliases


@functools.cache
def accelerators() -> tuple[Accelerator, ...]:
    """Return every accelerator of the catalog, by id."""
    return read(table.packaged(FILE))


@functools.cache
def _by_words() -> dict[Words, Accelerator]:
    return {_words(name): item for item in accelerators() for name in _names(item)}


def _fits_report(item: Accelerator, reported_bytes: int) -> bool:
    low, high = item.usable_low_bytes, item.usable_high_bytes
    low = low if low is not None else high
    high = high if high is not None else low
    if low is None or high is None:
        return True
    return low * _REPORTED_SLACK_BELOW <= reported_bytes <= high * _REPORTED_SLACK_ABOVE


def _meant(words: Words) -> list[Accelerator]:
    """Return the cards a name may mean: an exact one, else all that carry every word of it."""
    exact = _by_words().get(words)
    if exact is not None:
        return [exact]
    if all(word in _FORM_WORDS or re.fullmatch(r"\d+gb", word) for word in words):
        return []
    wide = {item.id: item for known, item in _by_words().items() if words <= known}
    return [item for item in wide.values() if _SLICE_WORD in words or _SLICE_WORD not in _words(item.id)]


def accelerator(name: str, reported_mib: int | None = None) -> Accelerator:
    """Return the one card a name means.

    ``reported_mib``, what the driver reports, chooses among cards of one name and is
    checked against the card. Raises ``AmbiguousName`` listing the candidates,
    ``UnknownName`` with near names, ``InvalidInput`` when the memory is of another card.
    """
    words = _words(name)
    found = _meant(words)
    if not found:
        close = near_names(name, [item.id for item in accelerators()])
        hint = "did you mean " + ", ".join(close) if close else "list the catalog, or declare the card's memory"
        raise UnknownName(f"accelerator {name!r} is not in the catalog; {hint}", name=name, near=", ".join(close))
    if reported_mib is None:
        kept = found
    else:
        kept = [item for item in found if _fits_report(item, reported_mib * KIB * KIB)]
        if not kept:
            raise InvalidInput.field(
                "reported_mib",
                reported_mib,
                f"is not the memory of {', '.join(sorted(item.id for item in found))}",
                "check the name, or declare the card's memory",
            )
    if len(kept) > 1:
        ids = ", ".join(sorted(item.id for item in kept))
        raise AmbiguousName(
            f"accelerator {name!r} means several cards: {ids}; name one of them", name=name, candidates=ids
        )
    return kept[0]
