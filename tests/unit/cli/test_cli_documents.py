"""Requests read from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.cli import documents
from tonnage.client import errors, messages

if TYPE_CHECKING:
    from pathlib import Path

YAML = """
workload:
  model: m
  demand: {peak_rate: {peak_requests_per_s: 5}}
  buckets:
    - {share: 1, work: {text: {input_tokens_mean: 10, output_tokens_mean: 20}}}
  slo: {latency_limits: [{metric: LATENCY_METRIC_TTFT, statistic: STATISTIC_P90, max_ms: 500}]}
  server: {price_per_hour: {currency: USD, amount: 0, source: quote, as_of_date: 2026-11-01}}
as_of_date: 2026-11-30
"""


def _read(path: Path, text: str, inner: str = "") -> messages.PlanCapacityRequest:
    path.write_text(text, encoding="utf-8")
    return documents.read_message("--file", str(path), messages.PlanCapacityRequest, inner=inner)


def test_a_yaml_request_is_read_with_its_dates_as_they_stand(tmp_path: Path) -> None:
    found = _read(tmp_path / "w.yaml", YAML)
    assert found.as_of_date == "2026-11-30"
    assert found.workload.server.price_per_hour.as_of_date == "2026-11-01"
    assert found.workload.server.price_per_hour.HasField("amount")
    assert found.workload.slo.latency_limits[0].max_ms == 500


def test_json_of_both_spellings_is_read(tmp_path: Path) -> None:
    assert _read(tmp_path / "w.json", '{"workload": {"model": "a"}, "as_of_date": "x"}').as_of_date == "x"
    assert _read(tmp_path / "w.json", '\ufeff{"workload": {"model": "a"}, "asOfDate": "x"}').as_of_date == "x"


def test_a_bare_workload_is_taken_as_one(tmp_path: Path) -> None:
    assert _read(tmp_path / "w.yaml", "model: m\n", inner="workload").workload.model == "m"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workload: {modle: m}", r"workload\.modle is no field; workload has model, request_class"),
        ("workload: {buckets: [{share: 1}, {shares: 1}]}", r"workload\.buckets\[1\]\.shares is no field"),
        ("workload: {demand: {peak_rate: {peak_requests_per_s: fast}}}", "peak_requests_per_s|Couldn't parse float"),
        ("- 1", "holds no mapping"),
        ("a: [", "neither JSON nor YAML"),
        ('{"a": }', "neither JSON nor YAML"),
        ("workload: 3", "workload"),
    ],
)
def test_a_file_that_is_no_request_says_where_and_what_would_be(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(errors.BadInput, match=words) as caught:
        _read(tmp_path / "w.yaml", text)
    assert caught.value.violations[0].field == "--file"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.BadInput, match=r"none\.yaml cannot be read"):
        documents.read_message("--file", str(tmp_path / "none.yaml"), messages.PlanCapacityRequest)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.BadInput, match="cannot be read"):
        documents.read_message("--file", str(tmp_path / "binary"), messages.PlanCapacityRequest)


def test_yaml_never_builds_objects(tmp_path: Path) -> None:
    with pytest.raises(errors.BadInput, match="neither JSON nor YAML"):
        _read(tmp_path / "w.yaml", "!!python/object/apply:os.system ['true']")
