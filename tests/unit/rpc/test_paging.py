"""Page tokens belong to one query and one data version."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.errors import InvalidInput, PageTokenStale
from tonnage.rpc.paging import decode_token, encode_token, page_size, query_digest


def test_no_size_means_the_default() -> None:
    assert page_size(0) == 50


@pytest.mark.parametrize("asked", [1, 50, 1000])
def test_a_size_in_range_is_kept(asked: int) -> None:
    assert page_size(asked) == asked


@pytest.mark.parametrize("asked", [-1, 1001, 2**31 - 1])
def test_a_size_out_of_range_is_refused_by_name(asked: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        page_size(asked)
    assert caught.value.violations[0].path == "page_size"


@given(st.text(min_size=1, max_size=200), st.integers(0, 2**53), st.text(max_size=20))
def test_a_token_comes_back_as_it_went(after: str, version: int, query: str) -> None:
    digest = query_digest(query)
    token = encode_token(after, data_version=version, digest=digest)
    assert decode_token(token, data_version=version, digest=digest) == after


def test_the_last_page_has_no_token_and_no_token_is_the_first_page() -> None:
    assert encode_token(None, data_version=1, digest="d") == ""
    assert decode_token("", data_version=1, digest="d") is None


def test_a_token_of_another_data_version_is_stale() -> None:
    token = encode_token("k", data_version=7, digest="d")
    with pytest.raises(PageTokenStale, match="data version 7, the store is at 8"):
        decode_token(token, data_version=8, digest="d")


def test_a_token_of_another_query_is_stale() -> None:
    token = encode_token("k", data_version=7, digest=query_digest("a"))
    with pytest.raises(PageTokenStale, match="another query"):
        decode_token(token, data_version=7, digest=query_digest("b"))


def of(text: str) -> str:
    """Return text as a token would be written."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "token",
    ["!", "a", "\x00", "é", "x" * 5000, of("[]"), of("{}"), of("[true,1,2]"), of('["1","d","k"]'), of("[1,2,3,4]")],
)
def test_what_is_no_token_is_refused_by_name(token: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_token(token, data_version=1, digest="d")
    assert caught.value.violations[0].path == "page_token"
    assert not isinstance(caught.value, PageTokenStale)


@given(st.text())
def test_any_text_at_all_is_refused_without_a_fault(token: str) -> None:
    if token:
        with pytest.raises(InvalidInput):
            decode_token(token, data_version=1, digest="d")
