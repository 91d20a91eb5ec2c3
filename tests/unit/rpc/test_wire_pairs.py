"""Pairs between domain and wire: what goes out comes back equal, and bad input is named."""

from __future__ import annotations

import pytest
from builders import a_configuration
from builders_rpc import a_level_message, a_run_message

from tonnage.domain.configuration import Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import (
    AudioWork,
    ImageWork,
    Level,
    Run,
)
from tonnage.errors import InvalidInput
from tonnage.rpc.codec.configuration import decode_configuration, encode_configuration
from tonnage.rpc.codec.enums import ARRIVAL_KIND, ORIGIN, SEVERITY, TEST_STATE
from tonnage.rpc.codec.level import decode_level
from tonnage.rpc.codec.run import decode_run, encode_run, run_name_parts
from tonnage.rpc.codec.work import decode_work, encode_work
from tonnage.v1 import finding_pb2, run_pb2


def test_a_size_without_a_modality_is_not_known() -> None:
    assert decode_work(run_pb2.WorkSize()) is None


def test_a_known_modality_without_numbers_stays_that_modality() -> None:
    assert decode_work(encode_work(ImageWork())) == ImageWork()


@pytest.mark.parametrize("table", [SEVERITY, ORIGIN, ARRIVAL_KIND, TEST_STATE])
def test_every_number_of_an_enum_has_its_member_and_back(table: object) -> None:
    wire = table._wire  # type: ignore[attr-defined]  # noqa: SLF001 -- the table under test
    numbers_sent = {number for number in wire.values() if number}
    members = {number: table.decode(number, "x") for number in numbers_sent}  # type: ignore[attr-defined]
    assert None not in members.values()
    assert {table.encode(member) for member in members.values()} == numbers_sent  # type: ignore[attr-defined]


def test_an_enum_number_nobody_defined_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"state: is not a known value.*TEST_STATE_PEAK"):
        TEST_STATE.decode(99, "state")


def test_a_required_enum_may_not_be_zero() -> None:
    with pytest.raises(InvalidInput, match="severity: is required"):
        SEVERITY.decode_required(0, "severity")


def test_absent_and_empty_fields_of_a_configuration_are_not_stated() -> None:
    assert decode_configuration(run_pb2.Configuration(model="")) == (Configuration(), None)


def test_a_zero_count_is_a_value_and_refused() -> None:
    with pytest.raises(InvalidInput, match="tensor_parallel: is below 1"):
        decode_configuration(run_pb2.Configuration(tensor_parallel=0))


def test_false_is_a_value() -> None:
    assert decode_configuration(run_pb2.Configuration(prefix_caching=False))[0] == Configuration(prefix_caching=False)


def test_a_fingerprint_alone_selects() -> None:
    fingerprint = a_configuration().fingerprint
    assert decode_configuration(run_pb2.Configuration(fingerprint=fingerprint)) == (Configuration(), fingerprint)


def test_a_fingerprint_beside_its_own_fields_is_no_contradiction() -> None:
    assert decode_configuration(encode_configuration(a_configuration())) == (a_configuration(), None)


def test_a_fingerprint_beside_other_fields_is_refused() -> None:
    message = encode_configuration(a_configuration())
    message.model = "other"
    with pytest.raises(InvalidInput, match="fingerprint: contradicts"):
        decode_configuration(message)


def test_a_run_described_by_a_fingerprint_alone_is_refused() -> None:
    message = a_run_message()
    message.configuration.CopyFrom(run_pb2.Configuration(fingerprint="a" * 32))
    with pytest.raises(InvalidInput, match=r"configuration\.fingerprint"):
        decode_run(message)


def test_a_bad_statistic_is_named_from_the_run_down() -> None:
    message = a_run_message()
    message.levels.append(a_level_message())
    message.levels[1].ttft.p99_ms = float("nan")
    with pytest.raises(InvalidInput) as caught:
        decode_run(message)
    assert caught.value.violations[0].path == "levels[1].ttft.p99_ms"


def test_positions_are_given_by_the_list() -> None:
    message = a_run_message()
    message.levels.append(a_level_message())
    assert [level.index for level in decode_run(message).levels] == [0, 1]


def test_an_index_that_is_not_the_position_is_refused() -> None:
    with pytest.raises(InvalidInput, match="index: is not the position"):
        decode_level(a_level_message(index=3), 1)


def test_a_state_without_an_origin_is_declared() -> None:
    assert decode_run(a_run_message()).state_origin is Origin.DECLARED


def test_an_origin_without_a_state_says_nothing() -> None:
    message = a_run_message(state=0, state_origin=finding_pb2.ORIGIN_MEASURED)
    assert decode_run(message).state_origin is None


@pytest.mark.parametrize("key", ["tool", "metric_definitions"])
def test_a_run_without_its_tool_or_definitions_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match=f"{key}: is required"):
        decode_run(a_run_message(**{key: ""}))


def test_a_run_without_levels_is_refused() -> None:
    message = a_run_message()
    del message.levels[:]
    with pytest.raises(InvalidInput, match="levels: is empty"):
        decode_run(message)


def test_a_tenant_stands_in_a_level_once() -> None:
    message = a_level_message()
    message.tenants.add(tenant="a")
    message.tenants.add(tenant="a")
    with pytest.raises(InvalidInput, match=r"tenants\[1\]\.tenant: is there twice"):
        decode_level(message, 0)


def test_a_tenants_part_holds_no_tenants() -> None:
    message = a_level_message()
    message.tenants.add(tenant="a").level.tenants.add(tenant="b")
    with pytest.raises(InvalidInput, match=r"tenants\[0\]\.level\.tenants"):
        decode_level(message, 0)


def test_levels_are_left_out_of_a_run_on_request() -> None:
    assert list(encode_run(decode_run(a_run_message()), with_levels=False).levels) == []


def test_what_a_plan_lacks_is_listed() -> None:
    message = a_run_message()
    message.configuration.ClearField("accelerator")
    message.levels[0].work.text.ClearField("output_tokens_mean")
    message.ClearField("replicas_under_test")
    found = encode_run(decode_run(message)).missing_for_plan
    assert list(found) == ["accelerator", "output_tokens_mean", "replicas_under_test"]


def test_a_modality_without_tokens_lacks_none() -> None:
    run = Run(tool="t", metric_definitions="t", levels=(Level(work=AudioWork(audio_s=3)),), replicas_under_test=1)
    assert not {"input_tokens_mean", "output_tokens_mean"} & set(run.missing_for_plan())


def test_a_run_name_is_taken_apart() -> None:
    assert run_name_parts("namespaces/default/runs/r1", "name") == ("default", "r1")


@pytest.mark.parametrize(
    "name", ["", "runs/r1", "namespaces/a/runs/", "namespaces/a/runs/b/c", "namespaces//runs/b", "\x00"]
)
def test_what_is_no_run_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        run_name_parts(name, "runs[0]")
    assert caught.value.violations[0].path == "runs[0]"
