"""JWTs of an identity provider, its keys fetched from a real HTTP server."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from builders_rpc import Lines
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tonnage.errors import Overloaded, Unauthenticated
from tonnage.rpc.oidc import Oidc, OidcOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.access import Identity

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
KEYS: dict[str, tuple[Any, str]] = {"r": (RSA, "RS256"), "e": (EC, "ES256")}


class Provider(ThreadingHTTPServer):
    """Publishes the keys it is told to, and counts who asks."""

    published = ("r", "e")
    asked_count = 0


class _Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        self.server.asked_count += 1
        made: dict[str, Any] = {"r": RSAAlgorithm.to_jwk(RSA.public_key()), "e": ECAlgorithm.to_jwk(EC.public_key())}
        keys = [{**json.loads(made[name]), "kid": name, "use": "sig"} for name in self.server.published]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"keys": keys}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def an_oidc(provider: Provider) -> Oidc:
    """Return a check of this provider's tokens."""
    url = f"http://127.0.0.1:{provider.server_port}/keys"
    return Oidc(OidcOptions(issuer="https://id.example", audience="tonnage", jwks_url=url, leeway_s=5), Lines())


def a_token(kid: str = "r", key: Any = None, algorithm: str | None = None, **changes: object) -> str:  # noqa: ANN401 -- keys share no type
    """Return a signed token; None leaves a claim out."""
    claims = {
        "iss": "https://id.example",
        "aud": "tonnage",
        "sub": "ana",
        "exp": time.time() + 60,
        "scope": "openid tonnage:plan read",
        "tonnage_namespaces": ["team"],
        **changes,
    }
    known = KEYS.get(kid, KEYS["r"])
    given = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(given, key or known[0], algorithm=algorithm or known[1], headers={"kid": kid})


def identity(oidc: Oidc, token: str) -> Identity:
    """Return whose token it is."""
    return asyncio.run(oidc.identity(token))


@pytest.mark.parametrize("kid", KEYS)
def test_claims_become_scopes_and_namespaces(provider: Provider, kid: str) -> None:
    found = identity(an_oidc(provider), a_token(kid))
    assert (found.name, found.scopes, found.namespaces) == ("ana", frozenset({"plan", "read"}), frozenset({"team"}))


def test_a_token_without_the_namespaces_claim_sees_none_and_a_star_is_all(provider: Provider) -> None:
    oidc = an_oidc(provider)
    assert identity(oidc, a_token(tonnage_namespaces=None)).namespaces == frozenset()
    assert identity(oidc, a_token(tonnage_namespaces=["*"])).namespaces is None


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"aud": "another"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"nbf": 4e9},
        {"kid": "unknown"},
        {"key": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
        {"key": "x" * 32, "algorithm": "HS256"},
    ],
)
def test_a_token_that_is_not_ours_now_is_refused(provider: Provider, changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        identity(an_oidc(provider), a_token(**changes))


def test_an_unsigned_token_is_refused(provider: Provider) -> None:
    token = jwt.encode({"sub": "ana"}, "", algorithm="none", headers={"kid": "r"})
    with pytest.raises(Unauthenticated):
        identity(an_oidc(provider), token)


def test_a_clock_that_is_a_little_off_is_overlooked(provider: Provider) -> None:
    assert identity(an_oidc(provider), a_token(exp=time.time() - 2)).name == "ana"


def test_keys_are_fetched_once_and_tokens_checked_once(provider: Provider) -> None:
    oidc, token = an_oidc(provider), a_token()
    first = identity(oidc, token)
    identity(oidc, a_token("e"))
    assert oidc.remembered(token) == first
    assert provider.asked_count == 1


def test_guessed_key_ids_do_not_make_the_server_ask_again_and_again(provider: Provider) -> None:
    oidc = an_oidc(provider)
    for number in range(5):
        with pytest.raises(Unauthenticated):
            identity(oidc, a_token(f"guess-{number}"))
    assert provider.asked_count == 1


def test_a_key_set_that_was_never_reached_is_told_apart_from_a_bad_token() -> None:
    options = OidcOptions(issuer="https://id.example", audience="tonnage", jwks_url="http://127.0.0.1:9/")
    with pytest.raises(Overloaded, match="not reached"):
        identity(Oidc(options, Lines()), a_token())
