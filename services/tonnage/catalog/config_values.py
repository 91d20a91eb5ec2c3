"""A JSON object of a model's config; its readers name the key when a value has another type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping


class Config:
    """A JSON object of a config."""

    __slots__ = ("_values", "path")

    def __init__(self, values: Mapping[str, object], path: str) -> None:
        self._values = values
        self.path = path

    def has(self, key: str) -> bool:
        """Tell whether the key holds anything."""
        return self._values.get(key) is not None

    def refuse(self, key: str, problem: str, cure: str) -> InvalidInput:
        """Return the error of a key."""
        return InvalidInput.field(f"{self.path}.{key}", self._values.get(key), problem, cure)

    def whole(self, *keys: str, least: int = 0) -> int | None:
        """Return the first of the keys that is stated, a whole number."""
        for key in keys:
            value = self._values.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise self.refuse(key, "is not a whole number", "write a whole number")
            checks.count(f"{self.path}.{key}", value, least=least)
            return value
        return None

    def needed(self, *keys: str) -> int:
        """Return the first of the keys that is stated; refuse none."""
        value = self.whole(*keys, least=1)
        if value is None:
            raise InvalidInput.field(
                f"{self.path}.{keys[0]}", None, "is required and absent", "give the whole config.json"
            )
        return value

    def truth(self, key: str) -> bool | None:
        """Return true or false."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(key, "is neither true nor false", "write true or false")
        return value

    def text(self, key: str) -> str | None:
        """Return a text."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.refuse(key, "is not a text", "write a text")
        return value

    def words(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refuse(key, "is not a list of texts", "write a list of layer kinds")
        return tuple(value)

    def numbers(self, key: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
            raise self.refuse(key, "is not a list of whole numbers", "write a list of whole numbers")
        return tuple(value)

    def inner(self, key: str) -> Config | None:
        """Return the object under a key."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.refuse(key, "is not an object", "write an object")
        return Config(value, f"{self.path}.{key}")
