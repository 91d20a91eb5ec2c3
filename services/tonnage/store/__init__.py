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
    return LakeWriter(parse_store_url(url))


def open_reader(url: str) -> StoreReader:
    """Follow the store from another process than the writer's; where there is none yet, wait for it.

    Raises ``InvalidInput`` (path ``store``), ``NotAvailable``, ``SchemaTooNew`` or ``StoreUnavailable``.
    """
    return LakeReader(parse_store_url(url))


def embedded_place(url: str) -> EmbeddedPlace:
    """Return the folder a store URL names; raise ``InvalidInput`` (path ``store``) or ``NotAvailable``."""
    place = parse_store_url(url)
    if isinstance(place, EmbeddedPlace):
        return place
    raise NotAvailable(
        "this is for a store in a folder; look after one on PostgreSQL and S3 with pg_dump and versions of the bucket, "
        "or copy it to a folder with `tonnage store migrate --to lake:///absolute/path/to/folder`"
    )


__all__ = ["embedded_place", "open_reader", "open_writer"]
