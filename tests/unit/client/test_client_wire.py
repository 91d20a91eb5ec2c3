"""Foreign messages read by number."""

from __future__ import annotations

from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2
from hypothesis import given
from hypothesis import strategies as st

from tonnage.client.wire import (
    Details,
    Violation,
    decode_details,
    encode_details,
    encode_health_request,
    says_serving,
)


def _google(details: Details) -> bytes:
    status = status_pb2.Status(code=3, message="no")
    parts = [
        error_details_pb2.ErrorInfo(reason=details.reason, domain="tonnage", metadata=details.context),
        error_details_pb2.BadRequest(
            field_violations=[
                error_details_pb2.BadRequest.FieldViolation(field=item.field, description=item.description)
                for item in details.violations
            ]
        ),
        error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=1, nanos=500_000_000)),
    ]
    for part in parts:
        packed = any_pb2.Any()
        packed.Pack(part)
        status.details.append(packed)
    data: bytes = status.SerializeToString()
    return data


REFUSED = Details(
    reason="INVALID_INPUT",
    context={"field": "workload.demand", "ü": "1"},
    violations=(Violation("workload.demand", "is required and absent; state it"),),
    retry_after_s=1.5,
)


def test_details_made_with_googles_classes_are_read_whole() -> None:
    assert decode_details(_google(REFUSED)) == REFUSED


def test_googles_classes_read_what_we_encode() -> None:
    status = status_pb2.Status.FromString(encode_details(3, "no", REFUSED))
    info, refused, retry = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.BadRequest(),
        error_details_pb2.RetryInfo(),
    )
    assert [item.Unpack(into) for item, into in zip(status.details, (info, refused, retry), strict=True)] == [True] * 3
    assert (status.code, status.message, info.reason, dict(info.metadata)) == (
        3,
        "no",
        "INVALID_INPUT",
        REFUSED.context,
    )
    assert refused.field_violations[0].field == "workload.demand"
    assert retry.retry_delay.ToMilliseconds() == 1500


@given(
    st.builds(
        Details,
        reason=st.text(min_size=1),
        context=st.dictionaries(st.text(), st.text()),
        violations=st.lists(st.builds(Violation, st.text(), st.text())).map(tuple),
    )
)
def test_details_survive_the_round_trip(details: Details) -> None:
    assert decode_details(encode_details(3, "m", details)) == details


def test_a_status_without_details_has_empty_ones() -> None:
    assert decode_details(b"") == Details()


def test_only_serving_counts_as_serving() -> None:
    states = {state: health_pb2.HealthCheckResponse(status=state) for state in (0, 1, 2, 3)}
    assert {state: says_serving(answer.SerializeToString()) for state, answer in states.items()} == {
        0: False,
        1: True,
        2: False,
        3: False,
    }
    assert health_pb2.HealthCheckRequest.FromString(encode_health_request("x")).service == "x"
