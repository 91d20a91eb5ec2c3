"""The check of the model against logs: what is asked, what is skipped, what is summed, what is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.accuracy import CatalogFacts
from tonnage.capacity.memory.accuracy import accuracy
from tonnage.capacity.memory.accuracy_report import Report, Score, VerdictScore
from tonnage.capacity.memory.accuracy_rows import Row, asked, precision
from tonnage.capacity.memory.calibrate import Observation, calibrate
from tonnage.capacity.memory.constants import DEFAULT
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.hardware import Accelerator
    from tonnage.domain.memory import ModelShape

SERVER = {
    "id": "a",
    "family": "one",
    "engine": "vllm",
    "engine_version": "0.19.0",
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "model_for_check": "meta-llama/Llama-3.1-8B-Instruct",
    "gpu": "H100 80GB",
    "gpu_count": "1",
    "tp": "1",
    "weight_dtype": "bf16",
    "max_model_len": "8192",
    "max_num_seqs": "1024",
    "max_num_batched_tokens": "8192",
    "gpu_memory_utilization": "0.95",
    "total_gpu_memory_gib": "79.19",
    "weights_gib": "14.99",
    "kv_cache_gib": "58.11",
    "kv_cache_tokens": "476016",
    "max_concurrency": "58.11",
    "max_concurrency_len": "8192",
    "outcome": "ok",
}
FACTS = CatalogFacts()


def _judged(*changes: dict[str, str]) -> Report:
    return accuracy([{**SERVER, **change} for change in changes], FACTS)


def _row(**changes: str) -> Row:
    return Row(id="a", family="one", cells={**SERVER, **changes})


def test_a_known_server_is_predicted_in_every_term() -> None:
    report = _judged({})
    for term in ("weights_gib", "kv_cache_gib", "kv_cache_tokens", "max_concurrency"):
        found = report.summary(term)
        assert found is not None
        assert found.n == 1
        assert found.median < 0.002
    assert [item.right for item in report.verdicts] == [True]


def test_errors_are_fractions_of_what_was_logged() -> None:
    assert Score(id="a", term="weights_gib", predicted=11, logged=10, low=9, high=12).error == pytest.approx(0.1)


def test_balanced_accuracy_weighs_starts_and_failures_alike() -> None:
    right = [VerdictScore(id=str(i), started=True, right=True, verdict="fits") for i in range(9)]
    wrong = VerdictScore(id="x", started=False, right=False, verdict="fits")
    report = Report(scores=(), verdicts=(*right, wrong), skipped=())
    assert report.balanced_accuracy == 0.5
    assert Report(scores=(), verdicts=tuple(right), skipped=()).balanced_accuracy is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model_for_check": ""}, "not named"),
        ({"model_for_check": "nobody/nothing"}, "no shape"),
        ({"tp": "", "gpu_count": ""}, "tensor-parallel"),
        ({"gpu_memory_utilization": "", "kv_cache_gib": ""}, "gpu_memory_utilization"),
        ({"gpu": "", "total_gpu_memory_gib": "", "kv_cache_gib": ""}, "the card or its memory"),
    ],
)
def test_a_row_that_lacks_an_input_is_listed_with_the_input(changes: dict[str, str], why: str) -> None:
    assert any(why in item.why for item in _judged(changes).skipped)


def test_tokens_are_judged_from_the_logged_pool_where_the_pool_cannot_be_predicted() -> None:
    report = _judged({"gpu": "", "total_gpu_memory_gib": ""})
    assert report.summary("kv_cache_gib") is None
    tokens = report.summary("kv_cache_tokens")
    assert tokens is not None
    assert tokens.median < 0.001


def test_a_late_failure_is_right_when_it_was_called_tight() -> None:
    late = {
        "model": "openai/gpt-oss-20b",
        "model_for_check": "openai/gpt-oss-20b",
        "weight_dtype": "bf16",
        "quantization": "mxfp4",
        "outcome": "oom_runtime",
    }
    (verdict,) = _judged(late).verdicts
    assert (verdict.started, verdict.right, verdict.verdict) == (False, True, "tight")


def test_missing_sequences_and_steps_take_the_default_of_the_card() -> None:
    stated, open_ = _judged({}), _judged({"max_num_seqs": "", "max_num_batched_tokens": ""})
    assert stated.scores == open_.scores


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"quantization": "fp8 (marlin weight-only)"}, "fp8"),
        ({"quantization": "compressed-tensors", "model": "RedHatAI/x-quantized.w8a8"}, "int8"),
        ({"quantization": "compressed-tensors", "model": "RedHatAI/x-fp8-dynamic"}, "fp8"),
        ({"quantization": "awq-int4 (marlin)"}, "int4"),
        ({"quantization": "gguf ~4-bit"}, "?"),
        ({"quantization": "", "model": "x (quantized)"}, "?"),
        ({"quantization": "", "model": "DeepSeek-R1-AWQ"}, "int4"),
        ({"quantization": "", "weight_dtype": ""}, None),
        ({"quantization": "", "weight_dtype": "fp16"}, "fp16"),
    ],
)
def test_precisions_are_read_as_logs_write_them(changes: dict[str, str], kind: str | None) -> None:
    shape = FACTS.shape(SERVER["model_for_check"])
    assert shape is not None
    assert precision(_row(**changes), shape) == kind


@pytest.mark.parametrize(
    ("column", "value"),
    [("weights_gib", "much"), ("tp", "1.5"), ("tp", "-1"), ("gpu_memory_utilization", "nan"), ("max_model_len", "inf")],
)
def test_a_cell_that_is_no_number_is_refused_by_row_and_column(column: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _judged({column: value})
    assert caught.value.context["field"] == f"a.{column}"


def test_a_file_without_a_needed_column_is_refused() -> None:
    with pytest.raises(InvalidInput, match="model_for_check"):
        accuracy([{"id": "a", "engine": "vllm"}], FACTS)


def test_a_stand_in_card_is_never_read_as_an_answer() -> None:
    found = asked(_row(gpu="", total_gpu_memory_gib=""), FACTS)
    assert not isinstance(found, str)
    assert found.lacks == "the card or its memory"


def test_no_constant_is_fitted_to_one_report() -> None:
    one = calibrate([Observation(constant="runtime_single_new", value=9.0)])
    assert one.runtime_single_new == DEFAULT.runtime_single_new
    two = calibrate([Observation(constant="runtime_single_new", value=value) for value in (0.2, 0.4)])
    assert two.runtime_single_new.value == pytest.approx(0.3)
    assert two.runtime_single_new.log_count == 2


def test_a_class_without_logs_takes_its_neighbours_figure() -> None:
    found = calibrate([Observation(constant="runtime_pair_new", value=value) for value in (2.0, 2.2)])
    assert found.runtime_pair_old.value == pytest.approx(2.1)


def test_a_family_is_judged_without_its_own_logs() -> None:
    others = [
        {"id": f"o{index}", "family": "two", "activation_peak_gib": "1.89", "non_torch_gib": "0.40"} for index in (1, 2)
    ]
    own = [{"id": f"a{index}", "family": "one", "non_torch_gib": "3.0"} for index in (1, 2)]
    report = _judged(*others, *own)
    pool = {score.id: score.predicted for score in report.scores if score.term == "kv_cache_gib"}
    assert pool["a1"] == pytest.approx(pool["o1"] + 3.0 - 0.40, abs=0.02)


def test_known_logs_of_other_families_are_used_and_a_log_counts_once() -> None:
    known = [
        Observation(constant="runtime_single_new", value=value, family=family, log=log)
        for value, family, log in ((1.0, "two", "x"), (1.0, "two", "y"), (9.0, "one", "z"), (9.0, "two", "a"))
    ]
    (pool,) = [item for item in accuracy([SERVER], FACTS, known).scores if item.term == "kv_cache_gib"]
    (alone,) = [item for item in accuracy([SERVER], FACTS).scores if item.term == "kv_cache_gib"]
    assert pool.predicted == pytest.approx(alone.predicted + 0.25 - 1.0, abs=0.02)


def test_a_pool_that_was_never_made_is_listed_and_its_verdict_judged() -> None:
    report = _judged({"id": "n", "kv_cache_gib": "-1.4", "outcome": "oom_kv", "gpu_memory_utilization": "0.1"})
    assert ["none was made" in item.why for item in report.skipped] == [True]
    assert [item.right for item in report.verdicts] == [True]


def test_a_card_whose_memory_nobody_logged_lacks_an_input() -> None:
    found = asked(_row(gpu="B200", total_gpu_memory_gib=""), FACTS)
    assert not isinstance(found, str)
    assert found.lacks == "the card or its memory"
    stated = asked(_row(gpu="B200", total_gpu_memory_gib="178"), FACTS)
    assert not isinstance(stated, str)
    assert stated.lacks == ""


def test_a_summary_counts_rows_inside_the_interval() -> None:
    inside = Score(id="a", term="weights_gib", predicted=10, logged=10.5, low=9, high=11)
    outside = Score(id="b", term="weights_gib", predicted=10, logged=20, low=9, high=11)
    found = Report(scores=(inside, outside), verdicts=(), skipped=()).summary("weights_gib")
    assert found is not None
    assert (found.n, found.covered_90) == (2, 0.5)
    assert found.mean_abs == pytest.approx((0.5 / 10.5 + 0.5) / 2)


class _NoFacts:
    def shape(self, name: str) -> ModelShape | None:
        del name
        return None

    def device(self, name: str) -> Accelerator | None:
        del name
        return None


def test_without_facts_every_row_is_skipped_and_none_is_lost() -> None:
    report = accuracy([SERVER, {**SERVER, "id": "b"}], _NoFacts())
    assert [item.id for item in report.skipped] == ["a", "b"]
    assert report.as_json()["terms"] == {}
