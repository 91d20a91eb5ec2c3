"""The site of a place; what a shared store alone needs is loaded when there is one."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from tonnage.errors import StoreUnavailable
from tonnage.store.lake.folder_site import FolderSite, FolderSource
from tonnage.store.url import EmbeddedPlace

if TYPE_CHECKING:
    from tonnage.store.lake.site import Site, Source
    from tonnage.store.url import Place

_NEEDED: Final = ("psycopg", "obstore")


def source_of(place: Place) -> Source:
    """Return where a reader finds a lake; raise ``StoreUnavailable`` when packages are missing."""
    if isinstance(place, EmbeddedPlace):
        return FolderSource(place)
    _require()
    from tonnage.store.lake.shared_site import SharedSource  # noqa: PLC0415 -- of the extra scale-out

    return SharedSource(place)


def site_of(place: Place) -> Site:
    """Return where a writer keeps a lake; raise ``StoreLocked``, ``StoreUnavailable`` or ``OSError``."""
    if isinstance(place, EmbeddedPlace):
        return FolderSite(place)
    _require()
    from tonnage.store.lake.shared_site import SharedSite  # noqa: PLC0415 -- of the extra scale-out

    return SharedSite(place)


def _require() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise StoreUnavailable(
            f"a store on PostgreSQL and S3 needs {' and '.join(missing)}; install tonnage[scale-out]",
            package=missing[0],
        )
