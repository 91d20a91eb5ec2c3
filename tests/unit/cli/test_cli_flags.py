"""Flags become messages."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

from tonnage.cli import requests
from tonnage.cli.commands.vram import DeclaredFlags, QuestionFlags, question_of
from tonnage.cli.flags.asking import Reading
from tonnage.cli.flags.configuration import ConfigurationFlags
from tonnage.cli.flags.expand import flattened
from tonnage.cli.flags.paths import FLAGS
from tonnage.cli.flags.plan import Depth, PlanFlags, Policy, RequestClass, request_of
from tonnage.cli.flags.workload import DemandFlags, FailoverFlags, ReserveFlags, ServerFlags, SizeFlags, SloFlags
from tonnage.client import errors, messages


def test_a_group_is_spread_into_its_fields_and_put_together_again() -> None:
    seen: dict[str, Any] = {}

    def command(*, slo: SloFlags, name: str = "x") -> int:
        """Do."""
        seen.update(slo=slo, name=name)
        return 3

    spread = flattened(command)
    assert list(inspect.signature(spread).parameters) == ["slo", "allow_statistic_substitution", "name"]
    assert list(get_type_hints(spread)) == ["slo", "allow_statistic_substitution", "name"]
    assert spread(slo=["a=1"], allow_statistic_substitution=True, name="y") == 3
    assert seen == {"slo": SloFlags(slo=["a=1"], allow_statistic_substitution=True), "name": "y"}
    assert (spread.__name__, spread.__doc__) == ("command", "Do.")


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        (DemandFlags(rps=4.0), "base_and_peak"),
        (DemandFlags(rps=4.0, peak_factor=2.0, peak_factor_source="log"), "base_and_peak"),
        (DemandFlags(peak_factor_source="log"), "base_and_peak"),
        (DemandFlags(peak_rps=4.0, rps=2.0), "peak_rate"),
        (DemandFlags(daily_active_users=0.0), "daily_users"),
        (DemandFlags(executing_sessions=3.0), "sessions"),
        (DemandFlags(), None),
    ],
)
def test_demand_is_of_the_kind_that_was_stated(flags: DemandFlags, kind: str | None) -> None:
    assert flags.message().WhichOneof("kind") == kind


def test_a_factor_that_was_not_stated_stays_absent() -> None:
    stated = DemandFlags(rps=0.0).message().base_and_peak
    assert stated.HasField("base_requests_per_s")
    assert not stated.HasField("peak_factor")


@pytest.mark.parametrize(
    "flags",
    [
        DemandFlags(peak_rps=4.0, peak_factor=2.0),
        DemandFlags(peak_rps=4.0, daily_active_users=2.0),
        SizeFlags(input_tokens=1.0, bucket=["share=1"]),
        ReserveFlags(no_reserve=True, reserve=0.2),
        ReserveFlags(reserve=0.2, growth=0.1),
        ReserveFlags(growth_source="x"),
        FailoverFlags(failover_replicas=1, failover_servers=1),
        FailoverFlags(failover_replicas=1, lost_zones=1),
    ],
)
def test_flags_that_contradict_each_other_are_refused(flags: Any) -> None:  # noqa: ANN401 -- any group
    with pytest.raises(errors.BadInput, match="give"):
        flags.buckets() if isinstance(flags, SizeFlags) else flags.message()


def test_a_reserve_is_none_only_when_that_is_said() -> None:
    assert ReserveFlags().message() is None
    none = ReserveFlags(no_reserve=True).message()
    whole = ReserveFlags(reserve=0.0, reserve_source="s").message()
    parts = ReserveFlags(growth=0.1, growth_source="s", burst=0.0, burst_source="t").message()
    assert none is not None
    assert whole is not None
    assert parts is not None
    assert [item.WhichOneof("kind") for item in (none, whole, parts)] == ["none", "whole", "parts"]
    assert [field.name for field, _ in parts.parts.ListFields()] == ["growth", "burst"]


def test_a_loss_of_zero_replicas_is_a_loss_that_was_stated() -> None:
    stated = FailoverFlags(failover_replicas=0).message()
    assert stated is not None
    assert stated.WhichOneof("kind") == "lost_replica_count"
    zones = FailoverFlags(zones=3, lost_zones=1).message()
    assert zones is not None
    assert (zones.zones.zone_count, zones.zones.lost_zone_count) == (3, 1)
    assert FailoverFlags().message() is None


def test_a_price_of_zero_is_stated_and_none_is_absent() -> None:
    free = ServerFlags(price_per_hour=0.0, price_currency="USD").message()
    assert free is not None
    assert free.price_per_hour.HasField("amount")
    assert ServerFlags().message() is None
    shaped = ServerFlags(accelerators_per_server=8).message()
    assert shaped is not None
    assert not shaped.HasField("price_per_hour")


def test_every_configuration_flag_is_a_field_and_every_field_but_the_model_a_flag() -> None:
    fields = {item.name for item in messages.Configuration.DESCRIPTOR.fields}
    assert set(get_type_hints(ConfigurationFlags)) == fields - {"model"}
    assert ConfigurationFlags(prefix_caching=False).message("m") == messages.Configuration(
        model="m", prefix_caching=False
    )


def test_flags_replace_the_files_parts_and_join_workload_and_configuration(tmp_path: Any) -> None:  # noqa: ANN401 -- a path
    path = tmp_path / "w.yaml"
    path.write_text(
        "workload: {model: m, demand: {peak_rate: {peak_requests_per_s: 5}}, buckets: [{share: 1}]}\n"
        "configuration: {engine: vllm, accelerator: a}\npolicy: CAPACITY_POLICY_INTERPOLATED\n"
    )
    top = messages.Workload(
        demand=messages.Demand(peak_rate=messages.PeakRate(peak_requests_per_s=9)),
        buckets=[messages.DemandBucket(share=0.5), messages.DemandBucket(share=0.5)],
    )
    found = request_of(
        PlanFlags(file=str(path), as_of="2026-01-01"), top, messages.Configuration(accelerator="b"), Reading()
    )
    assert found.workload.model == "m"
    assert found.workload.demand.peak_rate.peak_requests_per_s == 9
    assert [item.share for item in found.workload.buckets] == [0.5, 0.5]
    assert (found.configuration.engine, found.configuration.accelerator) == ("vllm", "b")
    assert (found.policy, found.as_of_date) == (messages.CAPACITY_POLICY_INTERPOLATED, "2026-01-01")


def test_words_of_enums_reach_the_request() -> None:
    flags = PlanFlags(policy=Policy.INTERPOLATED, depth=Depth.CHECKED, max_candidates=3, validate_only=True)
    found = request_of(flags, messages.Workload(), messages.Configuration(), Reading(min_data_version=0))
    assert (found.policy, found.depth) == (messages.CAPACITY_POLICY_INTERPOLATED, messages.DEPTH_CHECKED)
    assert (found.max_candidate_count, found.validate_only) == (3, True)
    assert found.HasField("min_data_version")
    assert not found.HasField("workload")


@pytest.mark.parametrize(
    ("words", "enum", "stem"),
    [
        (Policy, messages.CapacityPolicy, "CAPACITY_POLICY_"),
        (Depth, messages.Depth, "DEPTH_"),
        (RequestClass, messages.RequestClass, "REQUEST_CLASS_"),
    ],
)
def test_the_words_of_a_flag_are_those_of_its_enum(words: Any, enum: Any, stem: str) -> None:  # noqa: ANN401 -- enums
    known = {name.removeprefix(stem).lower().replace("_", "-") for name in enum.keys()}  # noqa: SIM118 -- no mapping
    assert {item.value for item in words} == known - {"unspecified"}


def test_a_memory_question_is_what_the_flags_state() -> None:
    found = question_of(
        QuestionFlags(model="m", accelerator="a", tensor_parallel=2, eager=False, memory_utilization=0.9),
        DeclaredFlags(weights="14.99GiB", bytes_per_parameter=2.0),
    )
    assert found.parallelism.tensor == 2
    assert found.HasField("eager")
    assert found.declared.weights_bytes == 16_095_389_942
    assert (found.WhichOneof("model_source"), found.WhichOneof("device")) == ("model", "accelerator")
    declared = question_of(QuestionFlags(device_name="x", device_memory="80GB"), DeclaredFlags())
    assert declared.declared_device.total_bytes == 80_000_000_000
    assert not declared.HasField("parallelism")


def test_overlaying_nothing_changes_nothing() -> None:
    base = messages.PlanCapacityRequest(workload=messages.Workload(model="m"), max_candidate_count=3)
    before = base.SerializeToString(deterministic=True)
    requests.overlay(base, messages.PlanCapacityRequest())
    assert base.SerializeToString(deterministic=True) == before


def test_every_path_with_a_flag_is_a_field_of_a_workload() -> None:
    def exists(path: str) -> bool:
        kind: Any = messages.PlanCapacityRequest.DESCRIPTOR
        for part in path.replace("[0]", "").split("."):
            if part not in kind.fields_by_name:
                return False
            kind = kind.fields_by_name[part].message_type
        return True

    paths = [path for path in FLAGS if path.startswith("workload.")]
    assert paths
    assert [path for path in paths if not exists(path)] == []
