"""Catalog messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.planning.codec.memory import config_json, encode_shape
from tonnage.planning.codec.presence import chosen
from tonnage.planning.usecase.catalog import CatalogAsked
from tonnage.rpc.codec.finding import encode_findings
from tonnage.v1 import catalog_pb2
from tonnage.v1 import catalog_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.domain.finding import Finding
    from tonnage.domain.hardware import Accelerator
    from tonnage.planning.usecase.catalog import KnownModel
    from tonnage.planning.usecase.listing import Listing


def decode_list(message: pb.ListModelsRequest | pb.ListAcceleratorsRequest) -> CatalogAsked:
    """Return what is listed; raise ``InvalidInput``."""
    checks.name("query", message.query)
    return CatalogAsked(query=message.query, page_size=message.page_size, page_token=message.page_token)


def decode_model_source(message: pb.GetModelRequest) -> tuple[str | None, bytes | None]:
    """Return the name or the config.json of a model; raise ``InvalidInput`` when neither is given."""
    kind = chosen(message, "source", "id", "name a catalog model, or give config_json")
    if kind == "config_json":
        return None, config_json(message.config_json)
    checks.required("id", message.id)
    checks.name("id", message.id)
    return message.id, None


def encode_models(listing: Listing[KnownModel]) -> pb.ListModelsResponse:
    """Return a page of models as an answer."""
    return pb.ListModelsResponse(
        models=[encode_model(item) for item in listing.rows],
        next_page_token=listing.next_page_token,
        total_count=listing.total_count,
    )


def encode_one_model(known: KnownModel, findings: Sequence[Finding]) -> pb.GetModelResponse:
    """Return one model as an answer."""
    return pb.GetModelResponse(model=encode_model(known), findings=encode_findings(findings))


def encode_accelerators(listing: Listing[Accelerator]) -> pb.ListAcceleratorsResponse:
    """Return a page of accelerators as an answer."""
    return pb.ListAcceleratorsResponse(
        accelerators=[encode_accelerator(item) for item in listing.rows],
        next_page_token=listing.next_page_token,
        total_count=listing.total_count,
    )


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
