"""Where a client looks for its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.client import errors
from tonnage.client.channel import Endpoint, endpoint

if TYPE_CHECKING:
    from pathlib import Path


def test_a_target_given_wins_over_the_environment_and_that_over_the_default() -> None:
    environment = {"TONNAGE_PLANNING": "10.0.0.1:1"}
    assert endpoint("TONNAGE_PLANNING", "h:2", environment=environment).target == "h:2"
    assert endpoint("TONNAGE_PLANNING", environment=environment).target == "10.0.0.1:1"
    assert endpoint("TONNAGE_PLANNING", environment={}).target == "127.0.0.1:7051"
    assert endpoint("TONNAGE_INGEST", environment={}).target == "127.0.0.1:7052"


def test_an_empty_variable_counts_as_not_set() -> None:
    found = endpoint(
        "TONNAGE_PLANNING", environment={"TONNAGE_PLANNING": "", "TONNAGE_TOKEN": "", "TONNAGE_TLS_CA": ""}
    )
    assert (found.target, found.token, found.tls_ca) == ("127.0.0.1:7051", None, None)


def test_the_token_goes_with_every_call_and_into_no_repr() -> None:
    found = endpoint("TONNAGE_PLANNING", environment={"TONNAGE_TOKEN": "s3cret"})
    assert found.metadata == (("authorization", "Bearer s3cret"),)
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("target", ["http://127.0.0.1:7051", "  "])
def test_a_target_that_is_no_host_and_port_is_refused(target: str) -> None:
    with pytest.raises(errors.BadInput, match="host:port"):
        Endpoint(target=target)


def test_a_missing_ca_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.BadInput, match=r"nowhere\.pem cannot be read"):
        Endpoint(target="h:1", tls_ca=tmp_path / "nowhere.pem").open()


@pytest.mark.parametrize(
    ("target", "direct"),
    [
        ("127.0.0.1:7051", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("unix:/run/t", True),
        ("10.0.0.1:7051", False),
    ],
)
def test_a_loopback_target_never_goes_through_a_proxy(target: str, direct: bool) -> None:
    options = dict(Endpoint(target=target)._options())  # noqa: SLF001 -- gRPC offers no way to ask a channel
    assert ("grpc.enable_http_proxy" in options) is direct
