"""The doctor names each thing that would keep a server from answering, and passes what is sound."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tonnage import doctor
from tonnage.rpc.tokens.book import TokenBook, utc_now
from tonnage.rpc.tokens.file import changing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_STORE", f"lake://{tmp_path}/store")
    monkeypatch.setenv("TONNAGE_INGEST_PORT", "0")
    monkeypatch.setenv("TONNAGE_PLANNING_PORT", "0")


def wrong() -> dict[str, str]:
    """Return what is wrong."""
    return {item.what: item.words for item in doctor.findings([]) if item.state == "wrong"}


def test_sound_settings_are_passed(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main([]) == 0
    assert "wrong" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variable", "value", "what", "words"),
    [
        ("TONNAGE_STORE", "s3://x", "store", "store"),
        ("TONNAGE_DRAIN_S", "soon", "settings", "drain_s"),
        ("TONNAGE_TLS_CERT_FILE", "cert.pem", "settings", "go together"),
        ("TONNAGE_OIDC_ISSUER", "https://id.example", "settings", "go together"),
        ("TONNAGE_OIDC_JWKS_URL", "file:///etc/passwd", "settings", "oidc_jwks_url"),
        ("TONNAGE_TOKEN_FILE", "/nowhere/token", "tokens", "token_file: cannot be read"),
        ("TONNAGE_TOKENS_FILE", "/nowhere/tokens", "tokens", "tokens_file: cannot be read"),
    ],
)
def test_what_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, what: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert words in wrong()[what]
    assert doctor.main(["--json"]) == 1


def test_a_certificate_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CERT", "KEY"):
        file = tmp_path / name
        file.write_text("hello")
        monkeypatch.setenv(f"TONNAGE_TLS_{name}_FILE", str(file))
    assert "tls" in wrong()


def test_a_port_in_use_and_a_book_without_live_tokens_are_warnings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "tokens.json"
    with changing(path) as write:
        write(TokenBook.of(()).create("ci", ("plan",), None, now=utc_now())[0].revoke("ci", utc_now()))
    monkeypatch.setenv("TONNAGE_TOKENS_FILE", str(path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("TONNAGE_INGEST_PORT", str(taken.getsockname()[1]))
        found = {item.what: item for item in doctor.findings([])}
    assert (found["ingest port"].state, found["tokens"].state) == ("warning", "warning")
    assert "0 live of 1" in found["tokens"].words
