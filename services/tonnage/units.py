"""Unit conversions, done once where foreign data is read."""

from __future__ import annotations

import re
from typing import Final

from tonnage.errors import InvalidInput

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30
GB: Final = 10**9
MS_PER_S: Final = 1000.0
US_PER_MS: Final = 1000.0
NS_PER_MS: Final = 1_000_000.0
S_PER_HOUR: Final = 3600.0
S_PER_DAY: Final = 86_400.0

_BYTES_PER: Final = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_MS_PER: Final = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3, "min": 6e4, "m": 6e4, "h": 3.6e6}
_QUANTITY: Final = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-zA-Zµ]*)\s*")


def s_to_ms(value_s: float) -> float:
    """Return seconds as milliseconds."""
    return value_s * MS_PER_S


def gib_to_bytes(value_gib: float) -> int:
    """Return GiB as whole bytes."""
    return round(value_gib * GIB)


def bytes_to_gib(value_bytes: float) -> float:
    """Return bytes as GiB."""
    return value_bytes / GIB


def parse_bytes(text: str, *, path: str) -> int:
    """Read "79.19 GiB" or "80GB"; GB is 10^9 and GiB 2^30, a bare number is refused.

    Raises ``InvalidInput`` naming ``path``.
    """
    return round(_parse(text, _BYTES_PER, path=path, cure="write a number and B, MB, MiB, GB or GiB"))


def parse_ms(text: str, *, path: str) -> float:
    """Read "250ms" or "1.5 s" as milliseconds; a bare number is refused.

    Raises ``InvalidInput`` naming ``path``.
    """
    return _parse(text, _MS_PER, path=path, cure="write a number and ns, us, ms, s or min")


def _parse(text: str, table: dict[str, float] | dict[str, int], *, path: str, cure: str) -> float:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise InvalidInput.field(path, text, "is not a quantity with a unit", cure)
    number, unit = found.groups()
    if unit.lower() not in table:
        raise InvalidInput.field(path, text, "has an unknown unit" if unit else "has no unit", cure)
    return float(number) * table[unit.lower()]
