"""Typed access to foreign documents: a value of the wrong kind is named with its path."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Final

from tonnage.errors import MalformedReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONGEST_TEXT: Final = 512
_DIGEST_LENGTH: Final = 16
_LARGEST: Final = 2**53
_NOT_FINITE: Final = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity", "nan", ".inf", "-.inf", ".nan"})
_UNSTATED: Final = frozenset({"", "null", "none", "n/a", "na", "-"})
_WHOLE_TOLERANCE: Final = 1e-6


def as_number(value: object, path: str) -> float | None:
    """Return a number, also from text; NaN and infinities stay so, for the lint to name.

    Raises ``MalformedReport`` for what is no number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise MalformedReport.field(path, value, "is not a number", "send the file as the tool wrote it")
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _UNSTATED:
            return None
        value = word.removeprefix(".").replace("-.", "-") if word in _NOT_FINITE else word
    try:
        return float(value)
    except (ValueError, OverflowError) as error:
        raise MalformedReport.field(path, value, "is not a number", "send the file as the tool wrote it") from error


def as_count(value: object, path: str) -> int | None:
    """Return a whole number; tools write some as 16.000000000000004. NaN is absent.

    Raises ``MalformedReport`` for a fraction or what is too large to be a count.
    """
    number = as_number(value, path)
    if number is None or math.isnan(number):
        return None
    if abs(number) > _LARGEST:
        raise MalformedReport.field(path, value, "is too large to be a count", "send the file as the tool wrote it")
    whole = round(number)
    if abs(number - whole) > _WHOLE_TOLERANCE * max(1.0, abs(number)):
        raise MalformedReport.field(path, value, "is not a whole number", "send the file as the tool wrote it")
    return whole


def as_rate(value: object, path: str) -> float | None:
    """Return an offered rate; "inf", -1, 0 and null all mean that none was set."""
    number = as_number(value, path)
    if number is None or not math.isfinite(number) or number <= 0:
        return None
    return number


def as_text(value: object) -> str | None:
    """Return a readable name of bounded length, or None when there is none.

    What is longer than 512 characters is cut, and ends in a digest of the whole, so that two stay two.
    """
    if value is None or isinstance(value, (dict, list)):
        return None
    line = re.sub(r"[\x00-\x1f\x7f\s]+", " ", str(value)).strip()
    if line.lower() in {"", "null", "none"}:
        return None
    if len(line) <= _LONGEST_TEXT:
        return line
    digest = hashlib.sha256(line.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{line[: _LONGEST_TEXT - _DIGEST_LENGTH - 1]}…{digest}"


class Fields:
    """One object of a foreign document, and where it stands.

    Absent keys and nulls give None; a value of the wrong kind raises ``MalformedReport`` with its path.
    """

    __slots__ = ("data", "path")

    def __init__(self, data: object, path: str = "") -> None:
        if not isinstance(data, dict):
            raise MalformedReport.field(
                path or "report", data, "is not an object", "send the file as the tool wrote it"
            )
        self.data: Mapping[str, object] = data
        self.path = path

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def raw(self, *keys: str) -> object:
        """Return the value under the first key that is there."""
        for key in keys:
            if (value := self.data.get(key)) is not None:
                return value
        return None

    def number(self, *keys: str) -> float | None:
        """Return the number under the first key that is there."""
        for key in keys:
            if self.data.get(key) is not None:
                return as_number(self.data[key], self._at(key))
        return None

    def count(self, *keys: str) -> int | None:
        """Return the whole number under the first key that is there."""
        for key in keys:
            if self.data.get(key) is not None:
                return as_count(self.data[key], self._at(key))
        return None

    def rate(self, *keys: str) -> float | None:
        """Return the offered rate under the first key that is there."""
        for key in keys:
            if self.data.get(key) is not None:
                return as_rate(self.data[key], self._at(key))
        return None

    def text(self, *keys: str) -> str | None:
        """Return the text under the first key that is there."""
        for key in keys:
            if (value := as_text(self.data.get(key))) is not None:
                return value
        return None

    def fields(self, key: str) -> Fields:
        """Return the object under a key; an empty one when absent."""
        value = self.data.get(key)
        return Fields({} if value is None else value, self._at(key))

    def items(self, key: str) -> Iterator[Fields]:
        """Yield the objects of the list under a key; nothing when absent."""
        value = self.data.get(key)
        if value is None:
            return
        if not isinstance(value, list):
            raise MalformedReport.field(self._at(key), value, "is not a list", "send the file as the tool wrote it")
        for index, element in enumerate(value):
            yield Fields(element, f"{self._at(key)}[{index}]")

    def dig(self, dotted: str) -> Fields:
        """Return the object at the end of a dotted path; an empty one when any step is absent."""
        found = self
        for key in dotted.split("."):
            found = found.fields(key)
        return found


def scaled(value: float | None, factor: float) -> float | None:
    """Return a number in another unit; None stays None."""
    return None if value is None else value * factor


def ratio(value: float | None, by: float | None) -> float | None:
    """Return value / by, or None where either is unknown or the divisor is not above 0; infinite beyond a double."""
    if value is None or by is None or not by > 0:
        return None
    try:
        return value / by
    except OverflowError:
        return math.inf


def product(value: float | None, by: float | None) -> float | None:
    """Return value x by, or None where either is unknown."""
    return None if value is None or by is None else value * by
