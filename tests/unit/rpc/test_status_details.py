"""What a client reads in the trailers of a failed call."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import quote

import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from tonnage.errors import FieldViolation, InvalidInput, NotStored, Overloaded
from tonnage.rpc.status import status_of

M = TypeVar("M", bound=Message)
HARD_LIMIT_BYTES = 8192


def detail(status: status_pb2.Status, kind: type[M]) -> M | None:
    """Return the detail of one kind."""
    for item in status.details:
        found = kind()
        if item.Unpack(found):
            return found
    return None


def test_reason_and_context_are_in_the_error_info() -> None:
    status = status_of(NotStored("no run x", kind="run", name="x"), "r1")
    info = detail(status, error_details_pb2.ErrorInfo)
    assert info is not None
    assert (info.reason, info.domain, dict(info.metadata)) == ("NOT_STORED", "tonnage", {"kind": "run", "name": "x"})
    assert (status.code, status.message) == (5, "no run x")


def test_each_field_stands_in_the_bad_request() -> None:
    error = InvalidInput(
        "two",
        violations=(FieldViolation("a.b", "-1", "is below 0", "give more"), FieldViolation("c", "", "is empty", "x")),
    )
    found = detail(status_of(error, "r1"), error_details_pb2.BadRequest)
    assert found is not None
    described = {item.field: item.description for item in found.field_violations}
    assert described == {"a.b": "is below 0 (found -1); give more", "c": "is empty; x"}


def test_a_hint_to_retry_is_a_retry_info() -> None:
    found = detail(status_of(Overloaded("busy", retry_after_ms=1500), "r1"), error_details_pb2.RetryInfo)
    assert found is not None
    assert found.retry_delay.ToMilliseconds() == 1500


def test_an_error_without_fields_or_hint_carries_neither() -> None:
    status = status_of(NotStored("x"), "r1")
    assert detail(status, error_details_pb2.BadRequest) is None
    assert detail(status, error_details_pb2.RetryInfo) is None


def test_the_request_id_goes_with_every_error() -> None:
    found = detail(status_of(NotStored("x"), "r1"), error_details_pb2.RequestInfo)
    assert found is not None
    assert found.request_id == "r1"


@pytest.mark.parametrize("text", ["x" * 100_000, "界" * 50_000, "\x00" * 9_000])
def test_an_error_of_any_length_fits_into_the_trailers(text: str) -> None:
    violations = tuple(FieldViolation(f"f{i}.{text[:3000]}", text[:3000], text, text) for i in range(50))
    status = status_of(InvalidInput(text, violations=violations, **{f"k{i}": text for i in range(50)}), "r" * 128)
    assert len(quote(status.message)) + status.ByteSize() * 4 / 3 < HARD_LIMIT_BYTES
    assert detail(status, error_details_pb2.BadRequest) is not None


def test_a_lone_surrogate_in_a_message_does_not_break_the_answer() -> None:
    assert status_of(NotStored("bad \ud800 name", name="\ud800"), "r1").message == "bad ? name"
