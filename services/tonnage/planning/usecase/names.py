"""One spelling for what a request names, so that it meets what was stored."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from tonnage import catalog
from tonnage.domain.versions import split_version
from tonnage.errors import AmbiguousName, UnknownName

if TYPE_CHECKING:
    from tonnage.domain.configuration import Configuration


@functools.lru_cache(maxsize=4096)
def normalized(configuration: Configuration) -> Configuration:
    """Return a selector in the catalog's spelling; an accelerator nobody knows stays under its own name.

    Raises ``AmbiguousName`` with path ``accelerator`` for a name that means several cards.
    """
    stated = configuration
    return replace(
        configuration,
        model=None if stated.model is None else catalog.normalize_model(stated.model),
        accelerator=None if stated.accelerator is None else accelerator_id(stated.accelerator),
        engine=None if stated.engine is None else catalog.normalize_engine(stated.engine),
        engine_version=None if stated.engine_version is None else split_version(stated.engine_version)[0],
        weight_precision=_precision(stated.weight_precision),
        kv_cache_type=_precision(stated.kv_cache_type),
    )


def _precision(text: str | None) -> str | None:
    return None if text is None else catalog.normalize_precision(text)


@functools.lru_cache(maxsize=1024)
def model_id(name: str) -> str:
    """Return the catalog's spelling of a model, or the name as it is."""
    return catalog.normalize_model(name)


def accelerator_id(name: str) -> str:
    """Return the catalog's id of a card, or the name as it is when nobody knows it; raise ``AmbiguousName``."""
    try:
        return catalog.accelerator(name).id
    except UnknownName:
        return name
    except AmbiguousName as error:
        raise ambiguous("accelerator", name, error) from error


def ambiguous(path: str, name: str, error: AmbiguousName) -> AmbiguousName:
    """Return the same error, seen from a request's field."""
    candidates = error.context.get("candidates", "")
    found = AmbiguousName.field(path, name, f"means several: {candidates}", "name one of them")
    found.context.update(error.context)
    return found
