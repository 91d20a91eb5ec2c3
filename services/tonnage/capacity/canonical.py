"""One text for one request, whatever the types of its numbers: what a plan's name is hashed from."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tonnage.domain.plan import PlanRequest


def plan_id(request: PlanRequest, data_version: int, release: str) -> str:
    """Return the SHA-256 of the normalized request, the data version and the release, lower-case hex."""
    text = f"{canonical(request)}\n{data_version}\n{release}"
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> str:  # noqa: ANN401 -- any value of the domain
    """Return the text of a domain value: fields in order, what is not stated left out, 10 and 10.0 alike."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str.__repr__(value)
    if isinstance(value, int | float):
        return repr(float(value) + 0.0)
    if isinstance(value, tuple):
        return f"[{','.join(map(canonical, value))}]"
    stated = [
        f"{name}:{canonical(inner)}" for name in _names(value.__class__) if (inner := getattr(value, name)) is not None
    ]
    return f"{type(value).__name__}{{{','.join(stated)}}}"


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))
