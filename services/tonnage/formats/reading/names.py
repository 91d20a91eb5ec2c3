"""Names and dates as files write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_CACHE_FOLDER: Final = re.compile(r"models--([^/]+?)--([^/]+)")
_WEIGHTS_SUFFIX: Final = re.compile(r"\.(gguf|bin|safetensors|pt|onnx)$", re.IGNORECASE)
_PLAIN_FOLDERS: Final = frozenset(
    {
        "",
        ".",
        "..",
        "~",
        "models",
        "model",
        "data",
        "mnt",
        "home",
        "root",
        "opt",
        "weights",
        "hub",
        "cache",
        "workspace",
    }
)
_LONGEST_ORGANISATION: Final = 64
_SHORT_DATE: Final = "%Y%m%d-%H%M%S"


def model_name(text: str | None) -> str | None:
    """Return a model id; of a folder or file path, what names the model.

    ``…/models--openai--gpt-oss-120b/snapshots/…`` gives ``openai/gpt-oss-120b``; ``/data/meta-llama/Llama-3`` gives
    ``meta-llama/Llama-3``; ``/models/x.Q4_1.gguf`` gives ``x.Q4_1``.
    """
    if text is None:
        return None
    cached = _CACHE_FOLDER.search(text)
    if cached is not None:
        return f"{cached.group(1)}/{cached.group(2)}"
    is_path = text.startswith(("/", "./", "../", "~")) or text.count("/") > 1 or _WEIGHTS_SUFFIX.search(text)
    if not is_path:
        return text
    parts = [part for part in text.split("/") if part]
    if not parts:
        return None
    name = _WEIGHTS_SUFFIX.sub("", parts[-1])
    parent = parts[-2] if len(parts) > 1 else ""
    file_like = name != parts[-1]
    if file_like or parent.lower() in _PLAIN_FOLDERS or len(parent) > _LONGEST_ORGANISATION:
        return name
    return f"{parent}/{name}"


def short_date(text: str | None) -> datetime | None:
    """Return YYYYMMDD-HHMMSS as a time in UTC (the file has no zone), or None for anything else."""
    if text is None:
        return None
    try:
        return datetime.strptime(text, _SHORT_DATE).replace(tzinfo=UTC)
    except ValueError:
        return None


def iso_date(value: object) -> datetime | None:
    """Return an ISO 8601 text (or a parsed date-time) as a time in UTC, or None for anything else."""
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    else:
        return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None


def epoch_s(value: float | None) -> datetime | None:
    """Return seconds since 1970 as a time in UTC, or None when it is no plausible date."""
    try:
        return None if value is None or value <= 0 else datetime.fromtimestamp(value, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None
