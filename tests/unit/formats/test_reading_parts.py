"""Names, dates, console text, grouping and statistics."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from builders_formats import of_text

from tonnage.domain.measurement import ArrivalKind, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.names import epoch_s, iso_date, model_name, short_date
from tonnage.formats.reading.requests import Gaps, Requests
from tonnage.formats.reading.statistics import of_values
from tonnage.formats.reading.text import box_rows, first_number, labels, last_block, plain_lines, quantity_ms

HEADER = Run(tool="t", metric_definitions="t-1", levels=())


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("/hub/models--openai--gpt-oss-120b/snapshots/b5c9/", "openai/gpt-oss-120b"),
        ("/data/meta-llama/Llama-3", "meta-llama/Llama-3"),
        ("/models/Llama-3", "Llama-3"),
        ("/mnt/x/Snowpiercer-15B-v1.Q3_K_L.gguf", "Snowpiercer-15B-v1.Q3_K_L"),
        ("./smollm2", "smollm2"),
        ("smollm2-135m", "smollm2-135m"),
        ("/", None),
        (None, None),
    ],
)
def test_a_path_gives_what_names_the_model(written: str | None, name: str | None) -> None:
    assert model_name(written) == name


def test_dates_are_utc_or_unknown() -> None:
    assert short_date("20260101-235959") == datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC)
    assert short_date("2026") is None
    assert iso_date("2026-01-01T02:00:00+02:00") == datetime(2026, 1, 1, tzinfo=UTC)
    assert iso_date("0001-01-01T00:00:00+14:00") is None
    assert iso_date(5) is None
    assert epoch_s(0.0) is None
    assert epoch_s(1e30) is None


@pytest.mark.parametrize(
    ("text", "ms"), [("187.96ms", 187.96), ("12.91µs", 0.01291), ("2m3s", 123_000.0), ("1.5s", 1500.0)]
)
def test_a_time_is_read_in_the_unit_of_its_cell(text: str, ms: float) -> None:
    assert quantity_ms(text, "x") == pytest.approx(ms)


@pytest.mark.parametrize("text", ["12", "x", "", "5 parsecs"])
def test_a_time_without_a_unit_is_refused(text: str) -> None:
    with pytest.raises(MalformedReport):
        quantity_ms(text, "x")


def test_console_text_loses_colours_and_what_was_overwritten() -> None:
    assert plain_lines(of_text("\x1b[31mred\x1b[0m\n10%\r100%\nlast\t1\n")) == ["red", "100%", "last 1"]


def test_the_last_block_of_a_log_counts() -> None:
    assert last_block(["= A", "1", "= A", "2"], "= A") == ["= A", "2"]
    assert last_block(["1"], "= A") == ["1"]


def test_labels_keep_the_first_of_two_alike() -> None:
    assert labels(["Time per  request: 121.7 [ms]", "Time per request: 30.4 [ms]"]) == {
        "Time per request": "121.7 [ms]"
    }
    assert first_number("121.7 [ms] (mean)") == "121.7"
    assert first_number("none") is None


def test_box_tables_lose_their_borders() -> None:
    assert list(box_rows(["┌──┬──┐", "│ a │ b │", "| c | d |"])) == [["a", "b"], ["c", "d"]]


def test_a_long_row_of_digits_costs_little() -> None:
    with pytest.raises(MalformedReport):
        quantity_ms("1" * 60_000, "x")


@pytest.mark.parametrize(
    ("cap", "rate", "kind"),
    [(4.0, None, ArrivalKind.CLOSED), (4.0, 2.0, ArrivalKind.OPEN), (None, 2.0, ArrivalKind.OPEN), (None, None, None)],
)
def test_a_stated_rate_is_an_open_loop(cap: float | None, rate: float | None, kind: ArrivalKind | None) -> None:
    assert arrival_of(cap, rate) is kind


def level(cap: float, tokens: float = 100.0) -> Level:
    return Level(concurrency=cap, work=TextWork(input_tokens_mean=tokens, output_tokens_mean=10.0))


def test_a_load_met_again_is_a_repeat_of_its_own() -> None:
    runs = list(grouped(Point(HEADER, level(cap)) for cap in (1, 2, 1, 4, 2, 1)))
    assert [[item.concurrency for item in run.levels] for run in runs] == [[1, 2, 4], [1, 2], [1]]


def test_unlike_request_sizes_are_never_one_run() -> None:
    runs = list(grouped([Point(HEADER, level(1)), Point(HEADER, level(2, 120.0)), Point(HEADER, level(4, 200.0))]))
    assert [len(run.levels) for run in runs] == [2, 1]


def test_a_run_was_measured_when_its_newest_level_was() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    (run,) = grouped([Point(HEADER, level(1), late), Point(HEADER, level(2), early), Point(HEADER, level(4))])
    assert run.measured_at == late


def test_percentiles_of_values_are_linear_between_ranks() -> None:
    found = of_values([1.0, 2.0, 3.0, 4.0, float("nan")], to_ms=1000.0)
    assert (found.mean_ms, found.p50_ms, found.p99_ms) == pytest.approx((2500.0, 2500.0, 3970.0))
    assert of_values([]).mean_ms is None


def test_many_gaps_counted_in_bins_stay_within_a_thousandth() -> None:
    values = np.random.default_rng(7).lognormal(2.0, 0.8, 2_100_000)
    gaps = Gaps()
    for part in np.array_split(values, 7):
        gaps.extend(part.tolist())
    assert gaps.bins is not None
    found, exact = gaps.latency(), of_values(values)
    for name in ("mean", "p50", "p90", "p95", "p99"):
        assert found.value_ms(name) == pytest.approx(exact.value_ms(name), rel=1e-3)


def test_single_requests_become_a_level() -> None:
    requests = Requests()
    requests.completed(e2e_ms=100.0, input_tokens=10.0, output_tokens=5.0)
    requests.completed(e2e_ms=300.0, input_tokens=20.0, output_tokens=5.0)
    requests.failed_count += 1
    requests.spans(10.0, 10.2)
    requests.spans(9.0, 11.0)
    found = requests.level(duration_s=requests.duration_s, failures_known=True)
    assert (found.completed_count, found.failed_count, found.duration_s) == (2, 1, 2.0)
    assert (found.requests_per_s, found.output_tokens_per_s, found.total_tokens_per_s) == (1.0, 5.0, 20.0)
    assert found.e2e.mean_ms == 200.0
