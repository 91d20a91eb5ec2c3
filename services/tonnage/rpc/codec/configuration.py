"""Configurations and conditions, to the wire and back."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.errors import InvalidInput
from tonnage.v1 import run_pb2 as pb

if TYPE_CHECKING:
    from google.protobuf.message import Message

CONDITION_TEXTS: Final = tuple(item.name for item in fields(Conditions) if item.name != "labels")
LARGEST_LABEL_COUNT: Final = 100
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{32}")


def present(message: Message, key: str) -> Any:  # noqa: ANN401 -- whatever the field holds
    """Return a field's value, None when it is absent or an empty text.

    For ``optional`` fields presence is asked; a plain text field is absent when empty.
    """
    if message.DESCRIPTOR.fields_by_name[key].has_presence:
        return getattr(message, key) if message.HasField(key) else None
    return getattr(message, key) or None


def encode_configuration(configuration: Configuration) -> pb.Configuration:
    """Return a configuration with its fingerprint; what is not stated stays absent."""
    return pb.Configuration(**configuration.stated(), fingerprint=configuration.fingerprint)  # type: ignore[arg-type]


def decode_configuration(message: pb.Configuration) -> tuple[Configuration, str | None]:
    """Return the fields stated, and the fingerprint when it selects alone.

    A fingerprint beside fields must be theirs. Raises ``InvalidInput`` with the field's path.
    """
    configuration = Configuration(**{key: present(message, key) for key in FIELD_NAMES})
    fingerprint = message.fingerprint or None
    if fingerprint is None:
        return configuration, None
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise InvalidInput.field("fingerprint", fingerprint, "is no fingerprint", "give 32 hex digits or leave it out")
    if not configuration.stated():
        return configuration, fingerprint
    if fingerprint != configuration.fingerprint:
        cure = "give the fingerprint alone, or the fields alone"
        raise InvalidInput.field("fingerprint", fingerprint, "contradicts the fields beside it", cure)
    return configuration, None


def encode_conditions(conditions: Conditions) -> pb.Conditions:
    """Return what was around the test."""
    texts = {key: value for key in CONDITION_TEXTS if (value := getattr(conditions, key)) is not None}
    return pb.Conditions(**texts, labels=dict(conditions.labels))


def decode_conditions(message: pb.Conditions) -> Conditions:
    """Return what was around the test; raise ``InvalidInput`` with the field's path."""
    texts = {key: present(message, key) for key in CONDITION_TEXTS}
    for key, value in texts.items():
        checks.name(key, value)
    return Conditions(**texts, labels=decode_labels(message.labels, "labels"))


def decode_labels(labels: Any, path: str) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 -- a protobuf map
    """Return free labels in order of their keys; raise ``InvalidInput`` with the key's path."""
    if len(labels) > LARGEST_LABEL_COUNT:
        raise InvalidInput.field(path, len(labels), "holds too many labels", f"keep {LARGEST_LABEL_COUNT}")
    for key, value in labels.items():
        checks.required(path, key)
        checks.name(path, key)
        checks.name(f'{path}["{key}"]', value)
    return tuple(sorted(labels.items()))
