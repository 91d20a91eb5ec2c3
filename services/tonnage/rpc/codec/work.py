"""The size of one request, of any modality, to the wire and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage import checks
from tonnage.domain.measurement import AudioWork, EmbeddingWork, ImageWork, TextWork, VideoWork, Work
from tonnage.errors import at
from tonnage.rpc.codec.configuration import present
from tonnage.rpc.codec.numbers import magnitude
from tonnage.v1 import run_pb2 as pb

if TYPE_CHECKING:
    from google.protobuf.message import Message

_KINDS: Final[dict[str, type[Any]]] = {
    "text": TextWork,
    "image": ImageWork,
    "audio": AudioWork,
    "video": VideoWork,
    "embedding": EmbeddingWork,
}
_FIELD_OF: Final = {kind: key for key, kind in _KINDS.items()}


def encode_work(work: Work) -> pb.WorkSize:
    """Return a request size; what is not known stays absent."""
    message = pb.WorkSize()
    part: Message = getattr(message, _FIELD_OF[type(work)])
    part.SetInParent()
    for key in work.__dataclass_fields__:
        value = getattr(work, key)
        if value is not None:
            setattr(part, key, value)
    return message


def decode_work(message: pb.WorkSize) -> Work | None:
    """Return a request size, None when no modality is set; raise ``InvalidInput`` with the field's path."""
    chosen = message.WhichOneof("work")
    if chosen is None:
        return None
    part: Message = getattr(message, chosen)
    kind = _KINDS[chosen]
    values = {key: present(part, key) for key in kind.__dataclass_fields__}
    with at(chosen):
        for key, value in values.items():
            if key.endswith("_ratio"):
                checks.ratio(key, value)
            else:
                magnitude(key, value)
    work: Work = kind(**values)
    return work
