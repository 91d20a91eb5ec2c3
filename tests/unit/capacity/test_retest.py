"""Retest: changes, age, states."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration, a_level, a_run

from tonnage.capacity.curves import curve_of
from tonnage.capacity.retest import RULES, Planned, RetestVerdict, check, nearness
from tonnage.capacity.states import CHECKED_STATES, coverage
from tonnage.domain.configuration import FIELD_NAMES, Conditions, Configuration
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import ArrivalKind, TestState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.curves import Curve
    from tonnage.capacity.retest import RetestItem
    from tonnage.domain.measurement import Run

AS_OF = date(2026, 11, 30)
MEASURED = datetime(2026, 11, 20, tzinfo=UTC)


def sweeps(*runs: Run) -> list[tuple[Curve, Sequence[Run]]]:
    """Return each run as a sweep of its own."""
    return [(curve_of([run]), [run]) for run in runs]


def covering(**changes: object) -> list[tuple[Curve, Sequence[Run]]]:
    """Return one run of each checked state, measured ten days before."""
    return sweeps(
        *(
            a_run(a_level(4, 4), state=state, run_id=f"run-{state}", measured_at=MEASURED, **changes)
            for state in CHECKED_STATES
        )
    )


def checked(found: list[tuple[Curve, Sequence[Run]]], **planned: object) -> RetestItem:
    """Check the builders' configuration against what is planned."""
    stated: dict[str, object] = {"configuration": Configuration(), "conditions": Conditions()}
    return check(a_configuration(), found, Planned(**{**stated, **planned}), AS_OF)  # type: ignore[arg-type]


def test_every_field_of_identity_and_conditions_has_a_rule() -> None:
    conditions = {item.name for item in fields(Conditions)} - {"labels"}
    assert set(RULES) == set(FIELD_NAMES) | conditions | {"sample_set"}
    assert all(rule.reason and rule.states for rule in RULES.values())


def test_a_fresh_measurement_of_all_states_stands() -> None:
    item = checked(covering(), configuration=a_configuration())
    assert item.verdict is RetestVerdict.STANDS
    assert item.age_days == 10
    assert not item.states_to_run
    assert not item.findings


@pytest.mark.parametrize(
    ("field", "value", "verdict"),
    [
        ("engine_version", "0.20", RetestVerdict.REQUIRED),
        ("tensor_parallel", 2, RetestVerdict.REQUIRED),
        ("kv_cache_type", "fp8", RetestVerdict.REQUIRED),
        ("model_revision", "abc", RetestVerdict.ADVISED),
    ],
)
def test_a_change_of_identity_is_as_grave_as_its_rule(field: str, value: object, verdict: RetestVerdict) -> None:
    planned = replace(a_configuration(), **{field: value})  # type: ignore[arg-type]
    item = checked(covering(), configuration=planned)
    assert item.verdict is verdict
    assert [change.field for change in item.changes] == [field]
    assert set(item.states_to_run) == set(RULES[field].states)


def test_what_the_plan_leaves_open_is_no_change() -> None:
    assert not checked(covering(), configuration=Configuration(engine="vllm")).changes


def test_a_condition_counts_only_where_both_sides_state_it() -> None:
    stated = covering(conditions=Conditions(driver_version="570.1"), sample_set="a")
    wanted = Conditions(driver_version="580.2", topology="nvlink")
    item = checked(stated, conditions=wanted, sample_set="b")
    assert [change.field for change in item.changes] == ["driver_version", "sample_set"]
    assert item.verdict is RetestVerdict.ADVISED
    assert not checked(covering(), conditions=wanted, sample_set="b").changes


@pytest.mark.parametrize(("age_days", "old"), [(180, False), (181, True)])
def test_age_is_counted_to_the_day(age_days: int, old: bool) -> None:
    measured = datetime(2026, 11, 30, tzinfo=UTC).timestamp() - age_days * 86_400
    item = checked(_aged(datetime.fromtimestamp(measured, UTC)))
    assert item.age_days == age_days
    assert ("MEASUREMENT_OLD" in [finding.code for finding in item.findings]) is old
    assert item.verdict is (RetestVerdict.ADVISED if old else RetestVerdict.STANDS)


def _aged(moment: datetime) -> list[tuple[Curve, Sequence[Run]]]:
    return sweeps(
        *(a_run(a_level(4, 4), state=state, run_id=f"run-{state}", measured_at=moment) for state in CHECKED_STATES)
    )


def test_a_measurement_without_a_date_has_no_age() -> None:
    item = checked(sweeps(a_run(a_level(4, 4))))
    assert item.age_days is None
    assert "AGE_NOT_KNOWN" in [finding.code for finding in item.findings]


def test_a_measurement_after_the_day_of_the_question_is_told() -> None:
    item = check(
        a_configuration(),
        covering(),
        Planned(configuration=Configuration(), conditions=Conditions()),
        date(2026, 11, 1),
    )
    assert item.age_days == -19
    assert "MEASURED_AFTER_AS_OF" in [finding.code for finding in item.findings]


def states_of(*runs: Run) -> dict[TestState, Origin | None]:
    """Return what is covered, and how that is known."""
    return {item.state: item.origin for item in coverage(sweeps(*runs)) if item.covered}


def test_a_ladder_shows_low_and_typical_load_and_its_peak_only_behind_the_knee() -> None:
    rising = a_run(a_level(1, 1), a_level(2, 2, index=1), a_level(4, 4, index=2))
    assert states_of(rising) == {TestState.SINGLE: Origin.DERIVED, TestState.TYPICAL: Origin.DERIVED}
    flat = a_run(a_level(1, 1), a_level(2, 2, index=1), a_level(4, 2.05, index=2), a_level(8, 2.1, index=3))
    assert TestState.PEAK in states_of(flat)


def test_a_ladder_from_a_higher_load_shows_no_low_load() -> None:
    assert TestState.SINGLE not in states_of(a_run(a_level(8, 4), a_level(16, 8, index=1)))


def test_an_open_loop_of_one_request_a_second_is_no_low_load() -> None:
    level = replace(a_level(1, 1), concurrency=None, offered_requests_per_s=1.0)
    assert TestState.SINGLE not in states_of(a_run(level, arrival_kind=ArrivalKind.OPEN))


def test_an_hour_at_one_level_is_a_soak_and_a_minute_less_is_none() -> None:
    assert TestState.SOAK in states_of(a_run(a_level(1, 1, duration_s=3600.0)))
    assert TestState.SOAK not in states_of(a_run(a_level(1, 1, duration_s=3540.0)))


def test_a_state_that_is_named_covers_itself_and_stress_covers_the_peak() -> None:
    named = states_of(a_run(a_level(4, 4), state=TestState.STRESS, state_origin=Origin.MEASURED))
    assert named[TestState.PEAK] is Origin.MEASURED
    assert states_of(a_run(a_level(4, 4), state=TestState.BURST))[TestState.BURST] is Origin.DECLARED


def test_a_cold_run_covers_nothing() -> None:
    assert not states_of(a_run(a_level(1, 1), state=TestState.COLD))


def test_fewer_grave_changes_are_nearer() -> None:
    planned = a_configuration(model_revision="abc")
    assert nearness(a_configuration(), planned) < nearness(a_configuration(engine="sglang"), planned)
    assert nearness(a_configuration(model_revision="abc"), planned) == (0, 0)
