"""Tokens of a file: made, read again, refused when over."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from builders_rpc import Lines

from tonnage.errors import InvalidInput, Overloaded, Unauthenticated
from tonnage.rpc.guard import RateLimit
from tonnage.rpc.tokens.book import TokenBook
from tonnage.rpc.tokens.file import TokenFile, changing

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def a_file(path: Path, book: TokenBook) -> Path:
    """Write a book."""
    with changing(path) as write:
        write(book)
    return path


def test_a_secret_is_known_by_its_digest_and_stands_nowhere(tmp_path: Path) -> None:
    book, secret = TokenBook.of(()).create("ci", ("ingest",), ("team",), now=NOW)
    path = a_file(tmp_path / "tokens.json", book)
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    found = TokenBook.from_file(path).identity(secret, NOW)
    assert found is not None
    assert (found.name, found.scopes, found.namespaces) == ("ci", frozenset({"ingest"}), frozenset({"team"}))
    assert book.identity(secret + "x", NOW) is None


def test_an_expired_or_revoked_token_opens_nothing() -> None:
    book, secret = TokenBook.of(()).create("ci", ("plan",), None, now=NOW, expires=NOW + timedelta(days=1))
    with pytest.raises(Unauthenticated, match="ci is expired"):
        book.identity(secret, NOW + timedelta(days=1))
    with pytest.raises(Unauthenticated, match="ci is revoked"):
        book.revoke("ci", NOW).identity(secret, NOW)


def test_a_running_server_follows_the_file_and_keeps_what_it_had_while_it_is_broken(tmp_path: Path) -> None:
    book, secret = TokenBook.of(()).create("ci", ("plan",), None, now=NOW)
    path, log = a_file(tmp_path / "tokens.json", book), Lines()
    tokens = TokenFile(path, log, now=lambda: NOW, look_s=0)
    assert tokens.identity(secret) is not None
    path.write_text("{")
    assert tokens.identity(secret) is not None
    assert log.lines[-1]["level"] == "error"
    a_file(path, book.revoke("ci", NOW))
    with pytest.raises(Unauthenticated):
        tokens.identity(secret)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 2, "tokens": []}',
        '{"version": 1, "tokens": [{"name": "a", "sha256": "secret-text", "scopes": ["plan"], "created": 1}]}',
    ],
)
def test_a_file_of_another_form_is_refused_without_its_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="tokens_file") as caught:
        TokenBook.from_file(path)
    assert "secret-text" not in str(caught.value)


def test_two_tokens_of_one_name_cannot_be_made() -> None:
    book, _ = TokenBook.of(()).create("ci", ("plan",), None, now=NOW)
    with pytest.raises(InvalidInput, match="is taken"):
        book.create("ci", ("plan",), None, now=NOW)


def test_the_command_makes_lists_and_revokes(tmp_path: Path) -> None:
    def told(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tonnage.rpc.tokens", "--file", str(tmp_path / "t.json"), "--json", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    made = json.loads(told("create", "ci", "--scope", "ingest", "--namespace", "team", "--days", "30").stdout)
    assert made["token"].startswith("tng_")
    assert json.loads(told("revoke", "ci").stdout)["state"] == "revoked"
    listed = told("list").stdout
    assert [row["state"] for row in json.loads(listed)["tokens"]] == ["revoked"]
    assert made["token"] not in listed
    assert told("revoke", "nobody").returncode == 2


def test_a_rate_is_held_for_each_identity_and_the_refusal_says_when_to_come_again() -> None:
    clock = [0.0]
    rate = RateLimit(2, now_s=lambda: clock[0])
    for _ in range(4):
        rate.take("a")
    with pytest.raises(Overloaded) as caught:
        rate.take("a")
    assert caught.value.context["retry_after_ms"] == "501"
    rate.take("b")
    clock[0] = 0.501
    rate.take("a")
