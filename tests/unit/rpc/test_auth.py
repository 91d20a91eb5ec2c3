"""Who is let in: the shared token, and what its file may hold."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tonnage.access import ANYBODY, Identity
from tonnage.errors import InvalidInput, Unauthenticated
from tonnage.rpc.auth import BearerCheck
from tonnage.rpc.guard import Guard

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "0123456789abcdef"  # noqa: S105 -- made up for the test
METHOD = "/tonnage.v1.IngestService/IngestReport"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def admitted(method: str, metadata: list[tuple[str, str | bytes]], guard: Guard | None = None) -> Identity:
    """Return who is let in."""
    return asyncio.run((guard or Guard(shared=BearerCheck(TOKEN))).admit(method, metadata))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_lets_a_call_pass_with_all_rights(scheme: str) -> None:
    assert admitted(METHOD, [("x", "y"), ("authorization", f"{scheme} {TOKEN}")]) is ANYBODY


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
        b"Bearer \xff",
        "Bearer a.b.c",
    ],
)
def test_anything_else_is_refused(value: str | bytes) -> None:
    with pytest.raises(Unauthenticated):
        admitted(METHOD, [("authorization", value)])


def test_a_call_without_a_token_is_told_what_to_send() -> None:
    with pytest.raises(Unauthenticated, match="authorization: Bearer"):
        admitted(METHOD, [])


def test_health_needs_no_token() -> None:
    assert admitted("/grpc.health.v1.Health/Check", []) is ANYBODY


def test_a_name_that_only_begins_like_health_needs_one() -> None:
    with pytest.raises(Unauthenticated):
        admitted("/grpc.health.v1.HealthFake/Check", [])


def test_reflection_needs_a_token_unless_it_is_open() -> None:
    with pytest.raises(Unauthenticated):
        admitted(REFLECTION, [])
    assert admitted(REFLECTION, [], Guard(shared=BearerCheck(TOKEN), reflection="open")) is ANYBODY


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
