"""How many accelerators a replica has and how many replicas were under test, from what is stated.

A file's accelerator count is not one replica by itself: where it differs from the parallelism and
nobody said how many replicas ran, the number stays unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.finding import Severity
from tonnage.errors import InvalidInput
from tonnage.ingest.given import path_of
from tonnage.ingest.notes import note

if TYPE_CHECKING:
    from tonnage.domain.configuration import Configuration
    from tonnage.domain.finding import Finding
    from tonnage.domain.measurement import Run
    from tonnage.ingest.given import Given

COUNT_LABEL: Final = "accelerator_count"
SPLIT: Final = "split"


def parallelism(configuration: Configuration) -> int | None:
    """Return TP x PP x DP, the accelerators they need; None when TP is not stated.

    Expert parallelism spreads over the same accelerators and adds none.
    """
    if configuration.tensor_parallel is None:
        return None
    pipeline, data = configuration.pipeline_parallel, configuration.data_parallel
    return configuration.tensor_parallel * (1 if pipeline is None else pipeline) * (1 if data is None else data)


def with_replicas(run: Run, given: Given) -> Run:
    """Return the run with accelerators per replica and replicas under test as far as they follow.

    Raises ``InvalidInput`` when what was given cannot be true together.
    """
    total = _accelerator_count(run, given)
    run, total = _with_accelerators(run, given, total)
    return _with_count(run, total)


def _accelerator_count(run: Run, given: Given) -> int | None:
    if given.accelerator_count is not None:
        return given.accelerator_count
    text = dict(run.conditions.labels).get(COUNT_LABEL, "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _with_accelerators(run: Run, given: Given, total: int | None) -> tuple[Run, int | None]:
    stated = run.configuration.accelerators_per_replica
    needed = parallelism(run.configuration)
    if stated is None:
        return _derived(run, needed, total), total
    if needed is None or stated == needed:
        return run, total
    is_given = "accelerators_per_replica" in given.configuration
    if stated < needed:
        if is_given:
            problem = f"is fewer than the {needed} of TP x PP x DP"
            raise InvalidInput.field(path_of("accelerators_per_replica"), stated, problem, "correct one of them")
        return _set(run, None, _too_few(stated, needed)), total
    if is_given or run.replicas_under_test is not None or run.configuration.serving_mode == SPLIT:
        return run, total
    # A file's own count beyond its parallelism is of the whole system, unless it tells the replicas apart.
    return _set(run, needed, _derivation(needed)), stated if total is None else total


def _derived(run: Run, needed: int | None, total: int | None) -> Run:
    if needed is not None:
        return _set(run, needed, _derivation(needed))
    replicas = run.replicas_under_test
    if total == 1:
        return _set(run, 1, _derivation(1))
    if total is not None and replicas is not None and total % replicas == 0:
        return _set(run, total // replicas, _derivation(total // replicas))
    return run


def _set(run: Run, accelerators: int | None, finding: Finding) -> Run:
    configuration = replace(run.configuration, accelerators_per_replica=accelerators)
    return replace(run, configuration=configuration, findings=(*run.findings, finding))


def _derivation(count: int) -> Finding:
    return note(
        "ACCELERATORS_PER_REPLICA_DERIVED",
        f"accelerators per replica is {count}, from the parallelism or the accelerator count",
        path="configuration.accelerators_per_replica",
        severity=Severity.INFO,
    )


def _too_few(stated: int, needed: int) -> Finding:
    return note(
        "ACCELERATORS_CONTRADICT_PARALLELISM",
        f"the file states {stated} accelerators a replica and a parallelism that needs {needed}; kept as not stated",
        path="configuration.accelerators_per_replica",
        remedy="give accelerators_per_replica and tensor_parallel with the upload",
    )


def _with_count(run: Run, total: int | None) -> Run:
    accelerators = run.configuration.accelerators_per_replica
    if run.replicas_under_test is not None:
        return _checked(run, run.replicas_under_test, accelerators, total)
    if total is None:
        return _noted(replace(run, replicas_under_test=1), _assumed())
    if total == accelerators:
        return replace(run, replicas_under_test=1)
    return _noted(run, _unknown(accelerators, total))


def _checked(run: Run, replicas: int, accelerators: int | None, total: int | None) -> Run:
    if accelerators is None or total is None or replicas * accelerators == total:
        return run
    text = f"{replicas} replicas of {accelerators} accelerators are not the {total} accelerators stated"
    return _noted(run, note("REPLICAS_CONTRADICT_ACCELERATORS", text, path="replicas_under_test"))


def _noted(run: Run, finding: Finding) -> Run:
    return replace(run, findings=(*run.findings, finding))


def _assumed() -> Finding:
    return note(
        "REPLICAS_UNDER_TEST_ASSUMED",
        "neither the file nor the labels say how many replicas were under test; one is taken",
        path="replicas_under_test",
        remedy="give replicas_under_test when more than one served the load",
        severity=Severity.INFO,
    )


def _unknown(accelerators: int | None, total: int) -> Finding:
    of_one = "unknown" if accelerators is None else str(accelerators)
    return note(
        "REPLICAS_UNDER_TEST_UNKNOWN",
        f"{total} accelerators were under test and one replica's are {of_one}; how many replicas ran is not known",
        path="replicas_under_test",
        remedy="give replicas_under_test with the upload",
    )
