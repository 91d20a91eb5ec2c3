"""Server-side pages of a list: tokens are walked, never a whole table loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import streamlit as st

from tonnage.client import errors

if TYPE_CHECKING:
    from collections.abc import Callable


class _Page(Protocol):
    next_page_token: str
    total_count: int
    data_version: int


class _Asked(Protocol):
    page_size: int
    page_token: str


Page = TypeVar("Page", bound=_Page)
Asked = TypeVar("Asked", bound=_Asked)


def page_of(call: Callable[[Asked], Page], request: Asked, *, key: str) -> Page:
    """Show the page numbers of a list and return the page that is picked; raise ``ClientError``.

    A list that changed meanwhile is walked again from its first page.
    """
    first = call(request)
    page_count = max(1, -(-first.total_count // request.page_size))
    if page_count == 1:
        return first
    position = min(int(st.session_state.get(f"{key}_page", 1)), page_count)
    page = first
    try:
        for _ in range(1, position):
            request.page_token = page.next_page_token
            page = call(request)
    except errors.BadInput:
        page = first
    st.pagination(page_count, key=f"{key}_page")
    return page
