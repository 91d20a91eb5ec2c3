"""Accelerators of a replica and replicas under test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import a_level, a_run

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.errors import InvalidInput
from tonnage.ingest.given import parse_given
from tonnage.ingest.replicas import parallelism, with_replicas

if TYPE_CHECKING:
    from tonnage.domain.measurement import Run


def found(
    count: int | None = None, replicas: int | None = None, given: dict[str, str] | None = None, **stated: object
) -> Run:
    """Return a run after its counts were derived; ``count`` is the file's accelerator count."""
    labels = () if count is None else (("accelerator_count", str(count)),)
    labels_given = parse_given({} if given is None else given)
    configuration = Configuration(**{**stated, **labels_given.configuration})
    run = a_run(
        a_level(4, 2),
        configuration=configuration,
        conditions=Conditions(labels=labels),
        replicas_under_test=replicas,
    )
    return with_replicas(run, labels_given)


def counts(run: Run) -> tuple[int | None, int | None, list[str]]:
    """Return accelerators per replica, replicas, and the codes of what is said."""
    return (
        run.configuration.accelerators_per_replica,
        run.replicas_under_test,
        [finding.code.removeprefix("ACCELERATORS_").removeprefix("REPLICAS_") for finding in run.findings],
    )


def test_expert_parallelism_adds_no_accelerators() -> None:
    stated = Configuration(tensor_parallel=4, pipeline_parallel=2, data_parallel=2, expert_parallel=16)
    assert parallelism(stated) == 16


def test_without_tensor_parallelism_nothing_follows() -> None:
    assert parallelism(Configuration(pipeline_parallel=2)) is None


def test_the_parallelism_gives_the_accelerators_and_one_replica_is_said_to_be_assumed() -> None:
    assert counts(found(tensor_parallel=2)) == (2, 1, ["PER_REPLICA_DERIVED", "UNDER_TEST_ASSUMED"])


def test_a_count_of_one_replica_is_one_replica() -> None:
    assert counts(found(2, tensor_parallel=2)) == (2, 1, ["PER_REPLICA_DERIVED"])


def test_a_count_that_differs_leaves_the_replicas_unknown() -> None:
    assert counts(found(8, tensor_parallel=2)) == (2, None, ["PER_REPLICA_DERIVED", "UNDER_TEST_UNKNOWN"])


def test_a_count_without_parallelism_leaves_the_replicas_unknown() -> None:
    assert counts(found(8)) == (None, None, ["UNDER_TEST_UNKNOWN"])


def test_a_count_and_the_replicas_give_the_accelerators() -> None:
    assert counts(found(8, replicas=2)) == (4, 2, ["PER_REPLICA_DERIVED"])


def test_one_accelerator_is_one_replica() -> None:
    assert counts(found(1)) == (1, 1, ["PER_REPLICA_DERIVED"])


def test_replicas_that_do_not_fill_the_accelerators_are_said() -> None:
    assert counts(found(8, replicas=3, accelerators_per_replica=2)) == (2, 3, ["CONTRADICT_ACCELERATORS"])


def test_a_files_count_beyond_its_parallelism_is_of_the_whole_system() -> None:
    run = found(accelerators_per_replica=8, tensor_parallel=2)
    assert counts(run) == (2, None, ["PER_REPLICA_DERIVED", "UNDER_TEST_UNKNOWN"])


def test_a_given_count_beyond_the_parallelism_stands() -> None:
    run = found(given={"accelerators_per_replica": "8"}, tensor_parallel=2)
    assert counts(run) == (8, 1, ["UNDER_TEST_ASSUMED"])


def test_a_file_that_tells_its_replicas_keeps_their_accelerators() -> None:
    assert counts(found(replicas=1, accelerators_per_replica=8, tensor_parallel=4)) == (8, 1, [])


def test_split_serving_is_one_replica_of_all_its_accelerators() -> None:
    run = found(accelerators_per_replica=8, tensor_parallel=2, serving_mode="split")
    assert counts(run) == (8, 1, ["UNDER_TEST_ASSUMED"])


def test_a_given_count_below_the_parallelism_is_refused() -> None:
    with pytest.raises(InvalidInput, match='given\\["accelerators_per_replica"\\]'):
        found(given={"accelerators_per_replica": "2"}, tensor_parallel=4)


def test_a_files_count_below_its_parallelism_is_not_stated() -> None:
    run = found(accelerators_per_replica=2, tensor_parallel=4)
    assert counts(run) == (None, 1, ["CONTRADICT_PARALLELISM", "UNDER_TEST_ASSUMED"])


def test_a_given_accelerator_count_is_that_of_the_whole_system() -> None:
    run = found(given={"accelerator_count": "4"}, tensor_parallel=2)
    assert counts(run) == (2, None, ["PER_REPLICA_DERIVED", "UNDER_TEST_UNKNOWN"])
