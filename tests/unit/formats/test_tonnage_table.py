"""Our own table: grouped into runs, foreign columns mapped or refused by name."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest
from builders_formats import of_bytes, of_text

from tonnage.domain.finding import Origin
from tonnage.domain.measurement import (
    ArrivalKind,
    AudioWork,
    EmbeddingWork,
    ImageWork,
    Run,
    TestState,
    TextWork,
    VideoWork,
    Work,
)
from tonnage.errors import InvalidInput, MalformedReport
from tonnage.formats import read, recognise

if TYPE_CHECKING:
    from tonnage.formats.base import Source

WRITERS = {"csv": "write_csv", "jsonl": "write_ndjson", "json": "write_json", "parquet": "write_parquet"}
HEADER = "model,engine,concurrency,requests_per_s,input_tokens_mean,output_tokens_mean,ttft_p95_ms"


def runs_of(source: Source) -> list[Run]:
    return read(source, recognise(source))[0]


def test_rows_of_one_configuration_are_levels_of_one_run() -> None:
    (run,) = runs_of(of_text(f"{HEADER}\nm,vllm,1,0.5,100,10,50\nm,vllm,2,0.9,100,10,80\n"))
    assert run.configuration.stated() == {"model": "m", "engine": "vllm"}
    assert run.arrival_kind is ArrivalKind.CLOSED
    assert [(level.concurrency, level.requests_per_s, level.ttft.p95_ms) for level in run.levels] == [
        (1.0, 0.5, 50.0),
        (2.0, 0.9, 80.0),
    ]
    assert [level.location for level in run.levels] == ["row 2", "row 3"]


@pytest.mark.parametrize(
    "column", ["engine", "sweep_id", "tool", "source", "measured_at", "label_note", "driver_version"]
)
def test_rows_that_differ_in_what_was_tested_are_runs_apart(column: str) -> None:
    first, second = ("2026-01-01", "2026-01-02") if column == "measured_at" else ("a", "b")
    text = f"concurrency,requests_per_s,{column}\n1,0.5,{first}\n2,0.9,{second}\n"
    assert len(runs_of(of_text(text))) == 2


def test_what_a_row_says_of_the_run_is_kept() -> None:
    text = (
        "requests_per_s,concurrency,state,arrival_kind,replicas_under_test,measured_at,label_team,image,"
        "prefix_caching,tensor_parallel,vram_peak_bytes,quality_suite,quality_score\n"
        "1,2,stress,closed,2,2026-05-31,search,img:1,true,4,1073741824,mmlu,0.5\n"
    )
    (run,) = runs_of(of_text(text))
    assert (run.state, run.state_origin, run.replicas_under_test) == (TestState.STRESS, Origin.DECLARED, 2)
    assert run.measured_at == datetime(2026, 5, 31, tzinfo=UTC)
    assert (run.conditions.labels, run.conditions.image) == ((("team", "search"),), "img:1")
    assert (run.configuration.prefix_caching, run.configuration.tensor_parallel) == (True, 4)
    level = run.levels[0]
    assert level.telemetry is not None
    assert level.quality is not None
    assert (level.telemetry.vram_peak_bytes, level.quality.score) == (1 << 30, 0.5)


@pytest.mark.parametrize(
    ("columns", "cells", "work"),
    [
        ("input_tokens_mean,output_tokens_mean", "10,5", TextWork(input_tokens_mean=10.0, output_tokens_mean=5.0)),
        ("image_megapixels,image_step_count", "1.0,30", ImageWork(megapixels=1.0, step_count=30.0)),
        ("audio_s", "12.5", AudioWork(audio_s=12.5)),
        ("video_frame_count", "48", VideoWork(frame_count=48.0)),
        ("embedding_input_tokens_mean", "256", EmbeddingWork(input_tokens_mean=256.0)),
        ("modality", "image", ImageWork()),
    ],
)
def test_the_modality_follows_from_the_columns_filled(columns: str, cells: str, work: Work) -> None:
    (run,) = runs_of(of_text(f"requests_per_s,concurrency,{columns}\n1,2,{cells}\n"))
    assert run.levels[0].work == work


@pytest.mark.parametrize(
    ("columns", "cells", "problem"),
    [
        ("audio_s,input_tokens_mean", "1,2", "mixes modalities"),
        ("modality", "smell", "is not known"),
        ("state", "asleep", "is not known"),
        ("prefix_caching", "perhaps", "neither true nor false"),
        ("measured_at", "yesterday", "is no date"),
        ("tensor_parallel", "0", "is below 1"),
        ("completed_count", "1.5", "whole number"),
        ("ttft_p95_ms", "fast", "is not a number"),
    ],
)
def test_a_cell_that_cannot_be_is_refused_by_name(columns: str, cells: str, problem: str) -> None:
    with pytest.raises(MalformedReport, match=problem):
        runs_of(of_text(f"requests_per_s,concurrency,{columns}\n1,2,{cells}\n"))


def test_a_column_that_is_not_ours_is_refused_by_name() -> None:
    with pytest.raises(MalformedReport, match=r"column rps.*--map ours=theirs"):
        runs_of(of_text("concurrency,requests_per_s,ttft_p95_ms,rps\n1,2,3,4\n"))


def test_a_mapped_table_is_read_and_what_is_left_out_is_said() -> None:
    source = of_text(
        "users,speed (req/s),first token (s),remark\n4,2.5,0.25,x\n",
        column_map={"concurrency": "users", "requests_per_s": "speed (req/s)", "ttft_mean_s": "first token (s)"},
    )
    runs, findings = read(source, recognise(source))
    level = runs[0].levels[0]
    assert (level.concurrency, level.requests_per_s, level.ttft.mean_ms) == (4.0, 2.5, 250.0)
    assert [(item.code, item.message) for item in findings] == [
        ("COLUMNS_NOT_MAPPED", "left out, as the map does not name them: remark")
    ]


@pytest.mark.parametrize(
    ("column_map", "problem"),
    [({"speed": "users"}, "is no column of ours"), ({"requests_per_s": "absent"}, "names columns the file lacks")],
)
def test_a_map_that_names_nothing_is_refused(column_map: dict[str, str], problem: str) -> None:
    source = of_text("users,rate\n4,2.5\n", column_map=column_map)
    with pytest.raises(InvalidInput, match=problem):
        runs_of(source)


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
def test_csv_json_and_parquet_say_the_same(form: str) -> None:
    frame = pl.DataFrame(
        {"model": ["m", "m"], "concurrency": [1, 2], "requests_per_s": [0.5, 0.9], "e2e_mean_ms": [None, 5.5]}
    )
    sink = io.BytesIO()
    getattr(frame, WRITERS[form])(sink)
    (run,) = runs_of(of_bytes(sink.getvalue()))
    assert run.configuration.model == "m"
    assert [(level.concurrency, level.requests_per_s, level.e2e.mean_ms) for level in run.levels] == [
        (1.0, 0.5, None),
        (2.0, 0.9, 5.5),
    ]


def test_a_broken_parquet_file_is_refused() -> None:
    with pytest.raises(MalformedReport, match="Parquet"):
        runs_of(of_bytes(b"PAR1" + bytes(200)))


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(MalformedReport, match="no load level"):
        runs_of(of_text(HEADER + "\n"))


def test_repeats_of_a_load_are_runs_of_one_sweep() -> None:
    text = "sweep_id,concurrency,requests_per_s\ns,1,0.5\ns,1,0.6\n"
    runs = runs_of(of_text(text))
    assert [(run.sweep_id, run.ordinal, len(run.levels)) for run in runs] == [("s", 0, 1), ("s", 1, 1)]
