"""What always holds of readers and lint, whatever a file says."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

from builders_formats import of_bytes, of_text, runs_of
from hypothesis import given
from hypothesis import strategies as st

from tonnage.domain.measurement import METRICS, STATISTICS, Latency, Level, Run, TextWork
from tonnage.errors import TonnageError
from tonnage.formats import FORMATS, read, recognise
from tonnage.formats.lint import lint_run, marked_statistics

numbers = st.none() | st.floats() | st.floats(min_value=-10, max_value=1e6)
latencies = st.builds(Latency, mean_ms=numbers, p50_ms=numbers, p90_ms=numbers, p95_ms=numbers, p99_ms=numbers)
counts = st.none() | st.integers(-5, 2000)
works = st.builds(TextWork, input_tokens_mean=numbers, output_tokens_mean=numbers)
levels = st.builds(
    Level,
    work=works,
    concurrency=numbers,
    offered_requests_per_s=numbers,
    requests_per_s=numbers,
    output_tokens_per_s=numbers,
    duration_s=numbers,
    completed_count=counts,
    failed_count=counts,
    ttft=latencies,
    tpot=latencies,
    itl=latencies,
    e2e=latencies,
    queue=latencies,
)
runs = st.lists(levels, max_size=3).map(lambda found: Run(tool="t", metric_definitions="t-1", levels=tuple(found)))
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
documents = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(runs)
def test_linting_twice_is_linting_once(run: Run) -> None:
    once = lint_run(run)
    assert lint_run(once) == once


@given(runs)
def test_every_figure_left_is_one_that_can_be(run: Run) -> None:
    for level in lint_run(run).levels:
        for metric in METRICS:
            found = [value for name in STATISTICS if (value := level.latency(metric).value_ms(name)) is not None]
            assert all(0 <= value < float("inf") for value in found)
            ordered = [value for name in STATISTICS[1:] if (value := level.latency(metric).value_ms(name)) is not None]
            assert all(high >= low * 0.999 for low, high in pairwise(ordered))


@given(runs)
def test_whatever_is_dropped_is_said_by_name(run: Run) -> None:
    for before, after in zip(run.levels, lint_run(run).levels, strict=True):
        said = {item.path for item in after.findings}
        for metric in METRICS:
            for name in STATISTICS:
                if before.latency(metric).value_ms(name) is not None and after.latency(metric).value_ms(name) is None:
                    assert f"{metric}_{name}_ms" in said


@given(runs)
def test_a_marked_statistic_is_shown(run: Run) -> None:
    for level in lint_run(run).levels:
        few = {item.path for item in level.findings if item.code == "TOO_FEW_REQUESTS_FOR_STATISTIC"}
        assert few <= marked_statistics(level)
        for path in few:
            metric, statistic, _ = path.split("_")
            assert level.latency(metric).value_ms(statistic) is not None  # type: ignore[arg-type]


@given(st.binary(max_size=400))
def test_any_bytes_give_runs_or_a_named_refusal(data: bytes) -> None:
    answered(data)


def answered(data: bytes) -> None:
    """Read bytes; only a refusal of ours may come out."""
    with suppress(TonnageError):
        source = of_bytes(data)
        read(source, recognise(source))


@given(st.sampled_from(FORMATS), st.data())
def test_any_document_with_a_readers_keys_gives_runs_or_a_named_refusal(reader: Any, data: st.DataObject) -> None:  # noqa: ANN401 -- any reader
    keys = [key for layout in reader.expects for key in layout] or ["a"]
    document = data.draw(st.dictionaries(st.sampled_from(keys), documents, min_size=1))
    answered(json.dumps(document).encode())
    answered(json.dumps([document]).encode())
    answered((json.dumps(document) + "\n" + json.dumps(document) + "\n").encode())


@given(
    st.lists(
        st.tuples(st.integers(1, 64), st.floats(0.1, 500), st.floats(1, 9000), st.integers(1, 5000)),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[0],
    )
)
def test_our_own_table_comes_back_as_it_was_written(rows: list[tuple[int, float, float, int]]) -> None:
    text = "concurrency,requests_per_s,ttft_p95_ms,completed_count\n"
    text += "".join(f"{cap},{rate!r},{ttft!r},{count}\n" for cap, rate, ttft, count in rows)
    (run,) = runs_of(text)
    read_back = [
        (level.concurrency, level.requests_per_s, level.ttft.p95_ms, level.completed_count) for level in run.levels
    ]
    assert read_back == rows
    lines = "".join(
        json.dumps({"concurrency": cap, "requests_per_s": rate, "ttft_p95_ms": ttft, "completed_count": count}) + "\n"
        for cap, rate, ttft, count in rows
    )
    assert [level.ttft for found in runs_of(lines) for level in found.levels] == [level.ttft for level in run.levels]
    assert of_text(text).head.kind == "table"
