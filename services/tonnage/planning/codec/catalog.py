"""Catalog messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.planning.codec.memory import encode_shape
from tonnage.v1 import catalog_pb2

if TYPE_CHECKING:
    from tonnage.domain.hardware import Accelerator
    from tonnage.planning.usecase.catalog import KnownModel


def encode_model(known: KnownModel) -> catalog_pb2.Model:
    """Return a model as a message."""
    shape = known.shape
    return catalog_pb2.Model(
        id=shape.name,
        shape=encode_shape(shape),
        attention_kind=shape.attention_kind or "",
        max_position_embeddings=shape.max_position_embeddings,
        checkpoint_precision=shape.checkpoint_precision or "",
        kv_bytes_per_token_16bit=known.kv_bytes_per_token_16bit,
        source=shape.source,
    )


def encode_accelerator(card: Accelerator) -> catalog_pb2.Accelerator:
    """Return an accelerator as a message."""
    return catalog_pb2.Accelerator(
        id=card.id,
        name=card.name,
        vendor=card.vendor,
        architecture=card.architecture or "",
        usable_low_bytes=card.usable_low_bytes,
        usable_high_bytes=card.usable_high_bytes,
        memory_sold_gb=card.memory_sold_gb,
        memory_bandwidth_gb_per_s=card.memory_bandwidth_gb_per_s,
        bf16_dense_tflops=card.bf16_dense_tflops,
        fp8_dense_tflops=card.fp8_dense_tflops,
        aliases=card.aliases,
        source=card.source,
        note=card.note,
    )
