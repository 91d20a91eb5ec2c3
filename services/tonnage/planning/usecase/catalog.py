"""Facts that ship with the product, listed and looked up."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage import catalog
from tonnage.capacity.memory.dtypes import cache_format
from tonnage.capacity.memory.layout import Split, layout
from tonnage.errors import AmbiguousName, InvalidInput
from tonnage.planning.usecase.listing import cut
from tonnage.planning.usecase.names import ambiguous
from tonnage.rpc import paging

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.hardware import Accelerator
    from tonnage.domain.memory import ModelShape
    from tonnage.planning.usecase.listing import Listing

CATALOG_VERSION: Final = 0
"""Page tokens of the catalog; it changes with the release alone."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model's shape and its cache bytes a token at 16 bits, None where no flat number exists."""

    shape: ModelShape
    kv_bytes_per_token_16bit: int | None


@functools.lru_cache(maxsize=4096)
def known(shape: ModelShape) -> KnownModel:
    """Return a shape with what follows from it; a shape that does not say enough has no flat number."""
    try:
        kept = layout(shape, cache_format("bf16"), Split(tensor=1, pipeline=1))
    except InvalidInput:
        return KnownModel(shape, None)
    return KnownModel(shape, round(kept.token_bytes) if kept.flat and kept.groups else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogAsked:
    """Part of a name, and which page."""

    query: str
    page_size: int
    page_token: str


def models_page(asked: CatalogAsked) -> Listing[KnownModel]:
    """Return catalog models whose id holds the query, case ignored, by id."""
    wanted = asked.query.casefold()
    found = [item for item in catalog.models() if wanted in item.name.casefold()]
    rows = [known(item) for item in sorted(found, key=lambda item: item.name)]
    digest = paging.query_digest("models", wanted)
    return cut(rows, asked.page_size, asked.page_token, digest, CATALOG_VERSION)


def accelerators_page(asked: CatalogAsked) -> Listing[Accelerator]:
    """Return catalog accelerators of which id, name or an alias holds the query, case ignored, by id."""
    wanted = asked.query.casefold()
    found = [
        card
        for card in catalog.accelerators()
        if any(wanted in text.casefold() for text in (card.id, card.name, *card.aliases))
    ]
    digest = paging.query_digest("accelerators", wanted)
    return cut(found, asked.page_size, asked.page_token, digest, CATALOG_VERSION)


def model(name: str | None, config_json: bytes | None) -> tuple[KnownModel, tuple[Finding, ...]]:
    """Return one model, by its catalog name or by the config.json given.

    Raises ``UnknownName`` or ``AmbiguousName`` for a name, ``InvalidInput`` naming the key of a config.json that is
    wrong.
    """
    if config_json is not None:
        shape, findings = catalog.shape_from_config(config_json, "config.json")
        return known(shape), findings
    try:
        return known(catalog.model(name or "")), ()
    except AmbiguousName as error:
        raise ambiguous("id", name or "", error) from error
