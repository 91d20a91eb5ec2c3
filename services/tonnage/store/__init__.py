"""The store: what was measured, kept for good, written by one process and read by many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage.errors import NotAvailable
from tonnage.store.lake.writer import LakeWriter
from tonnage.store.replica import LakeReader
from tonnage.store.url import EmbeddedPlace, parse_store_url

if TYPE_CHECKING:
    from tonnage.store.base import StoreReader, StoreWriter


def open_writer(url: str) -> StoreWriter:
    """Open the store for writing, and make it where there is none.

    Raises ``InvalidInput`` (path ``store``), ``NotAvailable``, ``StoreLocked``, ``SchemaTooNew`` or
    ``StoreUnavailable``.
    """
    return LakeWriter(_embedded(url))


def open_reader(url: str) -> StoreReader:
    """Follow the store from another process than the writer's; where there is none yet, wait for it.

    Raises ``InvalidInput`` (path ``store``), ``NotAvailable``, ``SchemaTooNew`` or ``StoreUnavailable``.
    """
    return LakeReader(_embedded(url))


def _embedded(url: str) -> EmbeddedPlace:
    place = parse_store_url(url)
    if isinstance(place, EmbeddedPlace):
        return place
    raise NotAvailable("this release has no store on PostgreSQL and S3 yet; use lake:///absolute/path/to/folder")


__all__ = ["open_reader", "open_writer"]
