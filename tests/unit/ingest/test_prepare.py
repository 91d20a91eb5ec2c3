"""From a file and its labels to runs that may be stored."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from builders import a_configuration, a_level, a_run
from builders_ingest import COLUMNS, GIVEN, a_table

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import TextWork
from tonnage.errors import InvalidInput, UnknownFormat, UnknownName
from tonnage.ingest.prepare import Prepared, prepare_report, prepare_runs
from tonnage.ingest.requests import ReportRequest, RunsRequest
from tonnage.ingest.spool import Spooled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tonnage.domain.measurement import Run

    Prepare = Callable[..., Prepared]


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    """Return a function that prepares bytes with a request's fields."""

    def prepared(data: bytes, **fields: object) -> Prepared:
        path = tmp_path / "upload"
        path.write_bytes(data)
        spooled = Spooled(path, len(data), hashlib.sha256(data).hexdigest())
        request = ReportRequest(**{"given": GIVEN, "filename": "bench.csv", **fields})  # type: ignore[arg-type]
        return prepare_report(spooled, request)

    return prepared


def test_a_file_with_its_labels_lacks_nothing_a_plan_needs(prepare: Prepare) -> None:
    prepared = prepare(a_table())
    (run,) = prepared.runs
    assert prepared.format == "tonnage-table"
    assert run.missing_for_plan() == ()
    assert run.configuration == Configuration(
        model="meta-llama/Llama-3.1-8B-Instruct",
        accelerator="h100-sxm-80gb",
        accelerators_per_replica=1,
        tensor_parallel=1,
        engine="vllm",
        engine_version="0.19",
        weight_precision="bf16",
    )
    assert [level.work for level in run.levels] == [TextWork(input_tokens_mean=1000.0, output_tokens_mean=100.0)] * 2


def test_a_file_alone_says_what_a_plan_lacks(prepare: Prepare) -> None:
    (run,) = prepare(a_table(), given={}).runs
    assert set(run.missing_for_plan()) == {
        "model",
        "accelerator",
        "accelerators_per_replica",
        "engine",
        "weight_precision",
        "input_tokens_mean",
        "output_tokens_mean",
    }


def test_the_report_id_is_the_digest_of_the_bytes(prepare: Prepare) -> None:
    data = a_table()
    prepared = prepare(data)
    assert prepared.report_id == hashlib.sha256(data).hexdigest()
    assert {run.report_id for run in prepared.runs} == {prepared.report_id}


@pytest.mark.parametrize(
    "fields", [{"filename": "other.csv"}, {"ingested_by": "bob"}, {"ci_job": "7"}, {"format": "tonnage-table"}]
)
def test_who_sent_it_and_under_which_name_is_no_part_of_the_key(prepare: Prepare, fields: dict[str, object]) -> None:
    assert ids(prepare(a_table(), **fields)) == ids(prepare(a_table()))


def test_another_spelling_of_a_label_is_the_same_run(prepare: Prepare) -> None:
    respelt = {**GIVEN, "accelerator": "NVIDIA H100 80GB HBM3", "weight_precision": "BF16", "tensor_parallel": "01"}
    assert ids(prepare(a_table(), given=respelt)) == ids(prepare(a_table()))


def test_another_label_is_another_run(prepare: Prepare) -> None:
    assert ids(prepare(a_table(), given={**GIVEN, "weight_precision": "fp8"})) != ids(prepare(a_table()))


def test_another_column_map_is_another_run(prepare: Prepare) -> None:
    columns = COLUMNS.replace("ttft_p50_ms", "ttft")
    data = a_table(columns=columns)
    one = prepare(data, column_map={"ttft_p50_ms": "ttft"})
    other = prepare(data, column_map={"ttft_p90_ms": "ttft"})
    assert one.runs[0].levels[0].ttft.p50_ms == 100
    assert other.runs[0].levels[0].ttft.p90_ms == 100
    assert ids(one) != ids(other)


def ids(prepared: Prepared) -> list[str]:
    """Return the ids of the runs."""
    return [run.run_id for run in prepared.runs]


def test_runs_of_one_file_have_different_ids(prepare: Prepare) -> None:
    columns = COLUMNS + ",tensor_parallel,accelerators_per_replica"
    data = a_table("1,1,100,100,500,0,1,1", "1,2,200,100,500,0,2,2", columns=columns)
    given = {key: value for key, value in GIVEN.items() if key != "tensor_parallel"}
    prepared = prepare(data, given=given)
    assert [run.configuration.accelerators_per_replica for run in prepared.runs] == [1, 2]
    assert len(set(ids(prepared))) == 2


def test_levels_of_one_file_are_a_sweep_by_themselves(prepare: Prepare) -> None:
    (run,) = prepare(a_table(), default_sweep_id="folder").runs
    assert run.sweep_id == run.run_id


def test_a_single_level_joins_the_sweep_of_its_folder(prepare: Prepare) -> None:
    one = a_table("1,1,100,100,500,0")
    assert prepare(one, default_sweep_id="folder").runs[0].sweep_id == "folder"
    assert prepare(one, default_sweep_id="folder", ci_job="7").runs[0].sweep_id == "folder@7"
    assert prepare(one).runs[0].sweep_id == prepare(one).runs[0].run_id


@pytest.mark.parametrize("fields", [{"sweep_id": "s"}, {"given": {**GIVEN, "sweep_id": "s"}}])
def test_a_sweep_that_is_given_wins_over_the_folder(prepare: Prepare, fields: dict[str, object]) -> None:
    assert prepare(a_table("1,1,100,100,500,0"), default_sweep_id="folder", **fields).runs[0].sweep_id == "s"


def test_two_sweeps_given_contradict(prepare: Prepare) -> None:
    with pytest.raises(InvalidInput, match='given\\["sweep_id"\\]'):
        prepare(a_table(), sweep_id="a", given={**GIVEN, "sweep_id": "b"})


def test_a_count_that_is_given_is_seen_by_the_checks(prepare: Prepare) -> None:
    columns = "concurrency,requests_per_s,ttft_p99_ms"
    few = prepare(a_table("1,1,100", columns=columns), given={**GIVEN, "completed_count": "12"}).runs[0]
    assert few.levels[0].completed_count == 12
    codes = {finding.code for finding in (*few.findings, *few.levels[0].findings)}
    assert "TOO_FEW_REQUESTS_FOR_STATISTIC" in codes
    assert "COUNT_NOT_STATED" not in codes


def test_a_label_the_file_contradicts_is_refused(prepare: Prepare) -> None:
    data = a_table("1,1,100,100,500,0,sglang", columns=COLUMNS + ",engine")
    with pytest.raises(InvalidInput, match="contradictory: the file says sglang"):
        prepare(data)


def test_a_file_nobody_knows_is_refused(prepare: Prepare) -> None:
    with pytest.raises(UnknownFormat):
        prepare(b"once upon a time")


def test_a_format_nobody_has_is_refused(prepare: Prepare) -> None:
    with pytest.raises(UnknownName):
        prepare(a_table(), format="excel")


def test_the_body_is_told_by_all_that_was_sent(prepare: Prepare) -> None:
    sent = [prepare(a_table(), **fields).body_digest for fields in ({}, {"ci_job": "7"}, {"replace": True})]
    assert len(set(sent)) == 3
    assert prepare(a_table()).body_digest == sent[0]


def pushed(run: Run, **fields: object) -> Run:
    """Prepare one pushed run."""
    (found,) = prepare_runs([run], RunsRequest(**fields))  # type: ignore[arg-type]
    return found


def test_a_pushed_run_is_known_by_its_content() -> None:
    run = a_run(a_level(4, 2), run_id="", report_id="", sweep_id=None)
    assert pushed(run).run_id == pushed(run, ingested_by="bob").run_id
    assert pushed(run).run_id != pushed(a_run(a_level(4, 2.5), run_id="", report_id="", sweep_id=None)).run_id
    assert pushed(run).sweep_id == pushed(run).run_id


def test_a_pushed_run_comes_out_in_normal_names() -> None:
    run = a_run(a_level(4, 2), configuration=a_configuration(accelerator="H100-SXM5-80GB", engine_version="0.19.2"))
    assert pushed(run).configuration == a_configuration()
    assert pushed(run).conditions.engine_patch_version == "0.19.2"


def test_a_pushed_run_is_checked_as_a_files_run_is() -> None:
    found = pushed(a_run(a_level(4, 2, completed_count=0, failed_count=10)))
    assert found.levels[0].usable is False


def test_the_owner_of_a_push_stands_for_runs_that_name_none() -> None:
    run = a_run(a_level(4, 2), ci_job="own")
    assert (pushed(run, ci_job="7").ci_job, pushed(run).ci_job) == ("7", "own")
