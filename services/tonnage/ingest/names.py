"""One spelling for the names in a configuration, so that the same thing measured twice has one fingerprint."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage import catalog
from tonnage.domain.finding import Severity
from tonnage.domain.versions import split_version
from tonnage.errors import AmbiguousName, UnknownName
from tonnage.ingest.notes import note

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run

_NOT_SAID: Final = frozenset({"auto", "none", "unknown", "null"})


def normal_run(run: Run) -> Run:
    """Return a run with what it says of itself in normal names, the patch version among the conditions.

    An accelerator's name that means several cards is left as it is written; ``settled_names`` decides.
    """
    stated = run.configuration
    minor, patch = (None, None) if stated.engine_version is None else split_version(stated.engine_version)
    configuration = replace(
        stated,
        model=None if stated.model is None else _normal_model(stated.model),
        engine=None if stated.engine is None else catalog.normalize_engine(stated.engine),
        engine_version=minor,
        weight_precision=_precision(stated.weight_precision),
        kv_cache_type=None if stated.kv_cache_type is None else catalog.normalize_precision(stated.kv_cache_type),
        accelerator=None if stated.accelerator is None else _catalog_id(stated.accelerator),
    )
    conditions = run.conditions
    if patch is not None and conditions.engine_patch_version is None:
        conditions = replace(conditions, engine_patch_version=patch)
    return replace(run, configuration=configuration, conditions=conditions)


@functools.lru_cache(maxsize=4096)
def _normal_model(name: str) -> str:
    """Return the catalog's spelling; looking for one that is not there is slow, and many runs share a model."""
    return catalog.normalize_model(name)


def _precision(text: str | None) -> str | None:
    """Return one spelling; a setting that leaves the choice to the engine states nothing."""
    return None if text is None or text.strip().lower() in _NOT_SAID else catalog.normalize_precision(text)


def _catalog_id(name: str) -> str:
    try:
        return catalog.accelerator(name).id
    except (AmbiguousName, UnknownName):
        return name


def given_accelerator(name: str) -> str:
    """Return the catalog id of a card that was given, or the name itself when the catalog lacks it.

    Raises ``AmbiguousName`` when it means several cards.
    """
    try:
        return catalog.accelerator(name).id
    except UnknownName:
        return name


def without_aliases(run: Run, *, model: str | None, accelerator: str | None) -> Run:
    """Return the run without names of its own that what was given makes more precise.

    Load tools write the name a server was started with ("llama-8b") or a card's name without its kind
    ("H100"). Where the catalog does not know it and the name given holds it, the given one stands.
    """
    stated = run.configuration
    if model is not None and stated.model is not None and _is_alias_of_model(stated.model, model):
        run = _renamed(run, "model", stated.model, model)
    if accelerator is not None and stated.accelerator is not None and _may_mean(stated.accelerator, accelerator):
        run = _renamed(run, "accelerator", stated.accelerator, accelerator)
    return run


def _renamed(run: Run, key: str, found: str, given: str) -> Run:
    finding = note(
        "NAME_GIVEN",
        f"the file says {key} {found!r}; {given!r}, which was given, stands",
        path=f"configuration.{key}",
        severity=Severity.INFO,
    )
    configuration = replace(run.configuration, **{key: None})
    return replace(run, configuration=configuration, findings=(*run.findings, finding))


def _is_alias_of_model(found: str, given: str) -> bool:
    try:
        catalog.model(found)
    except (UnknownName, AmbiguousName):
        short, long = _letters(found), _letters(given)
        return found != given and bool(short) and (short in long or long in short)
    return False


def _may_mean(found: str, given: str) -> bool:
    try:
        catalog.accelerator(found)
    except AmbiguousName as error:
        return given in error.context.get("candidates", "").split(", ")
    except UnknownName:
        return found != given and _letters(given.split("-", maxsplit=1)[0]) in _letters(found)
    return False


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def settled_names(run: Run) -> Run:
    """Return the run with an accelerator that means one card, or none; a finding says what was found."""
    name = run.configuration.accelerator
    if name is None:
        return run
    try:
        catalog.accelerator(name)
    except AmbiguousName as error:
        configuration = replace(run.configuration, accelerator=None)
        finding = _ambiguous(name, error.context.get("candidates", ""))
        return replace(run, configuration=configuration, findings=(*run.findings, finding))
    except UnknownName as error:
        return replace(run, findings=(*run.findings, _unknown(name, error.context.get("near", ""))))
    return run


def _ambiguous(name: str, candidates: str) -> Finding:
    return note(
        "ACCELERATOR_AMBIGUOUS",
        f"the file says {name!r}, which means several cards; kept as not stated",
        path="configuration.accelerator",
        remedy=f"give accelerator with the upload: one of {candidates}",
    )


def _unknown(name: str, near: str) -> Finding:
    return note(
        "ACCELERATOR_UNKNOWN",
        f"the catalog has no accelerator {name!r}; the name is kept as it is",
        path="configuration.accelerator",
        remedy=f"did you mean {near}?" if near else "plans find it under this very name",
    )
