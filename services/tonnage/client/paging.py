"""Walking a paged list: each page carries the token of the next, bound to one data version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class _Paged(Protocol):
    """An answer that may have a next page."""

    next_page_token: str


class _Asked(Protocol):
    """A question for one page."""

    page_token: str

    def CopyFrom(self, other: Self, /) -> None: ...  # noqa: N802 -- protobuf's name


Asked_contra = TypeVar("Asked_contra", bound=_Asked, contravariant=True)
Page_co = TypeVar("Page_co", bound=_Paged, covariant=True)


class _Fetch(Protocol[Asked_contra, Page_co]):
    def __call__(self, request: Asked_contra, *, timeout_s: float | None = None) -> Page_co: ...


class _AsyncFetch(Protocol[Asked_contra, Page_co]):
    async def __call__(self, request: Asked_contra, *, timeout_s: float | None = None) -> Page_co: ...


def pages(fetch: _Fetch[Asked_contra, Page_co], request: Asked_contra, timeout_s: float | None) -> Iterator[Page_co]:
    """Yield each page; ``request`` is not changed. ``timeout_s`` bounds each page."""
    asked = type(request)()
    asked.CopyFrom(request)
    while True:
        page = fetch(asked, timeout_s=timeout_s)
        yield page
        if not page.next_page_token:
            return
        asked.page_token = page.next_page_token


async def apages(
    fetch: _AsyncFetch[Asked_contra, Page_co], request: Asked_contra, timeout_s: float | None
) -> AsyncIterator[Page_co]:
    """Yield each page, for asyncio."""
    asked = type(request)()
    asked.CopyFrom(request)
    while True:
        page = await fetch(asked, timeout_s=timeout_s)
        yield page
        if not page.next_page_token:
            return
        asked.page_token = page.next_page_token
