"""What is said beside an uploaded file, and the name under which it is sent once."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.values import Values, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GIVEN: Final = (
    "model",
    "accelerator",
    "accelerators_per_replica",
    "engine",
    "engine_version",
    "weight_precision",
    "tensor_parallel",
    "replicas_under_test",
    "state",
)


def given_labels(values: Values) -> dict[str, str]:
    """Return the labels somebody filled in; lines of the free field are ``key = value``."""
    labels = {field: text_of(values, f"given_{field}") for field in GIVEN}
    for line in text_of(values, "given_more").splitlines():
        key, _, value = line.partition("=")
        labels[key.strip()] = value.strip()
    return {key: value for key, value in labels.items() if key and value}


def digest(content: memoryview | bytes) -> str:
    """Return the SHA-256 of a file, lower-case hex."""
    return hashlib.sha256(content).hexdigest()


def upload_key(report_id: str, given: Mapping[str, str], sweep_id: str) -> str:
    """Return the name of one upload: the same file said the same way has the same name."""
    said = json.dumps([report_id, sorted(given.items()), sweep_id], ensure_ascii=False)
    return f"page-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def sweep_of(report_ids: Sequence[str]) -> str:
    """Return one sweep id for files dropped together; their order does not matter."""
    joined = "".join(sorted(report_ids))
    return f"upload-{hashlib.sha256(joined.encode()).hexdigest()[:16]}"
