"""What a failed call becomes."""

from __future__ import annotations

import inspect
from typing import Any

import grpc
import pytest

from tonnage.client import errors, wire
from tonnage.client.errors import ClientError, decode


class _Failed(grpc.RpcError):
    def __init__(
        self, code: grpc.StatusCode, text: str = "words", trailers: tuple[tuple[str, object], ...] = ()
    ) -> None:
        self._code, self._text, self._trailers = code, text, trailers

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._text

    def trailing_metadata(self) -> Any:  # noqa: ANN401 -- wider than gRPC's stub says
        return self._trailers


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK])
def test_every_status_code_has_a_class_of_ours(code: grpc.StatusCode) -> None:
    found = decode(_Failed(code), target="h:1")
    assert type(found) is not ClientError
    assert found.code == code.name


def test_every_class_of_the_tree_is_reached_by_some_status() -> None:
    leaves = {item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, ClientError)}
    made = {type(decode(_Failed(code), target="h:1")) for code in grpc.StatusCode if code is not grpc.StatusCode.OK}
    overloaded = wire.encode_details(8, "", wire.Details(reason="OVERLOADED", retry_after_s=0.5))
    busy = decode(_Failed(grpc.StatusCode.RESOURCE_EXHAUSTED, "", ((wire.STATUS_KEY, overloaded),)), target="h:1")
    assert busy.retry_after_s == 0.5
    assert leaves - made - {type(busy)} == {ClientError}


def test_the_reason_context_fields_and_request_id_are_carried() -> None:
    data = wire.encode_details(
        3, "", wire.Details(reason="INVALID_INPUT", context={"field": "a.b"}, violations=(wire.Violation("a.b", "is"),))
    )
    found = decode(
        _Failed(grpc.StatusCode.INVALID_ARGUMENT, "a.b: is", ((wire.STATUS_KEY, data), ("x-request-id", "r1"))),
        target="h:1",
    )
    assert isinstance(found, errors.BadInput)
    assert (found.reason, found.context, found.request_id) == ("INVALID_INPUT", {"field": "a.b"}, "r1")
    assert [str(item) for item in found.violations] == ["a.b: is"]
    assert str(found) == "a.b: is"


def test_where_nobody_answers_the_target_is_named() -> None:
    assert "h:1" in str(decode(_Failed(grpc.StatusCode.UNAVAILABLE, "refused"), target="h:1"))


def test_a_server_that_says_why_it_cannot_answer_is_quoted_as_it_is() -> None:
    data = wire.encode_details(14, "", wire.Details(reason="STORE_LOCKED"))
    found = decode(_Failed(grpc.StatusCode.UNAVAILABLE, "locked", ((wire.STATUS_KEY, data),)), target="h:1")
    assert (str(found), found.reason) == ("locked", "STORE_LOCKED")


def test_a_trailer_nobody_can_read_leaves_the_status_standing() -> None:
    found = decode(_Failed(grpc.StatusCode.NOT_FOUND, "gone", ((wire.STATUS_KEY, b"\xff\xff"),)), target="h:1")
    assert isinstance(found, errors.NotFound)
    assert (str(found), found.reason) == ("gone", "")
