"""Bringing a store up to this release's schema, as ingest does when it starts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.store.admin.frozen import frozen
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from tonnage.store.url import EmbeddedPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """From which schema to which; both are the same when there was nothing to do."""

    from_version: int
    to_version: int


def bring_up(place: EmbeddedPlace) -> Migrated:
    """Apply the steps a store lacks; raises as ``frozen`` does, and ``StoreLocked`` while somebody writes it.

    A store that is up to date is left alone, ingest or not.
    """
    with frozen(place) as store:
        found = store.schema_version
    if found < SCHEMA_VERSION:
        with closing(LakeWriter(place)):
            pass
    return Migrated(from_version=found, to_version=SCHEMA_VERSION)
