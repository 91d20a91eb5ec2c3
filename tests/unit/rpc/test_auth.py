"""The bearer check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.errors import InvalidInput, Unauthenticated
from tonnage.rpc.auth import BearerCheck

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "0123456789abcdef"  # noqa: S105 -- made up for the test
METHOD = "/tonnage.v1.IngestService/IngestReport"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_lets_a_call_pass(scheme: str) -> None:
    BearerCheck(TOKEN).check(METHOD, [("x", "y"), ("authorization", f"{scheme} {TOKEN}")])


@pytest.mark.parametrize(
    "value",
    [
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer ",
        "Bearer é",
        f"Bearer  {TOKEN}",
    ],
)
def test_anything_else_is_refused(value: str) -> None:
    with pytest.raises(Unauthenticated):
        BearerCheck(TOKEN).check(METHOD, [("authorization", value)])


def test_a_call_without_a_token_is_told_what_to_send() -> None:
    with pytest.raises(Unauthenticated, match="authorization: Bearer"):
        BearerCheck(TOKEN).check(METHOD, [])


def test_health_needs_no_token() -> None:
    BearerCheck(TOKEN).check("/grpc.health.v1.Health/Check", [])


def test_a_name_that_only_begins_like_health_needs_one() -> None:
    with pytest.raises(Unauthenticated):
        BearerCheck(TOKEN).check("/grpc.health.v1.HealthFake/Check", [])


def test_white_space_around_the_token_of_a_file_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"\n{TOKEN}\n")
    assert BearerCheck.from_file(file) == BearerCheck(TOKEN)


@pytest.mark.parametrize("text", ["", "short", "two words\nand lines of text", "ünprintable-token-text"])
def test_a_file_without_a_usable_token_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        BearerCheck.from_file(file)
    assert caught.value.violations[0].path == "token_file"


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="token_file: cannot be read"):
        BearerCheck.from_file(tmp_path / "none")


def test_the_token_is_in_no_representation() -> None:
    assert TOKEN not in repr(BearerCheck(TOKEN))
