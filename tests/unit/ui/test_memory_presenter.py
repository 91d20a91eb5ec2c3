"""The VRAM ledger as a bar, a map and rows."""

from __future__ import annotations

import json

import pytest
from builders_ui import a_fit

from tonnage.client import messages as pb
from tonnage_ui.charts import memory as charts
from tonnage_ui.charts.palette import palette
from tonnage_ui.forms.vram import key_of_field, map_axes, map_questions, vram_question
from tonnage_ui.presenters import memory
from tonnage_ui.words import words_of

WORDS = words_of("en")
QUESTION = pb.MemoryQuestion(model="m", accelerator="a", request_tokens=8192, concurrency=16)


def test_the_bar_adds_up_to_the_ledger() -> None:
    fit = a_fit(QUESTION)
    option = charts.ledger(memory.ledger(fit, WORDS), palette("dark"), WORDS)
    drawn_gib = sum(series["data"][0] for series in option["series"])
    assert drawn_gib == pytest.approx(sum(term.bytes for term in fit.terms) / 1024**3, rel=1e-3)
    assert json.loads(json.dumps(option, allow_nan=False)) == option


def test_card_and_budget_are_lines() -> None:
    option = charts.ledger(memory.ledger(a_fit(QUESTION), WORDS), palette("light"), WORDS)
    assert [line["xAxis"] for line in option["series"][0]["markLine"]["data"]] == [79.0, 71.0]


def test_no_two_terms_share_a_colour() -> None:
    option = charts.ledger(memory.ledger(a_fit(QUESTION), WORDS), palette("light"), WORDS)
    colours = [series["itemStyle"]["color"] for series in option["series"]]
    assert len(set(colours)) == len(colours)


def test_a_verdict_is_more_than_a_colour() -> None:
    fits, full = a_fit(QUESTION), a_fit(QUESTION, verdict=pb.FIT_VERDICT_DOES_NOT_FIT)
    assert memory.headline(fits, WORDS).title == "It fits"
    assert memory.headline(full, WORDS).title == "It does not fit"
    assert memory.headline(fits, WORDS).summary == "Decided by: KV cache"


def test_nothing_fits_is_a_dash_and_not_zero_tokens() -> None:
    fit = a_fit(QUESTION)
    fit.ClearField("max_request_tokens")
    fit.ClearField("smallest_accelerator_count")
    assert [figure.value for figure in memory.figures(fit, WORDS)][2:] == ["–", "–"]


def test_the_map_has_each_answer_in_its_place() -> None:
    lengths, wanted = map_axes(8192, 16)
    assert (lengths, wanted) == ([2048, 4096, 8192, 16384, 32768], [4, 8, 16, 32, 64])
    questions = list(map_questions(QUESTION, lengths, wanted))
    shown = memory.fit_map(lengths, wanted, [a_fit(question) for question in questions], WORDS)
    cells = {(cell.column, cell.row): cell.label for cell in shown.cells}
    assert cells[0, 0] == "fits"
    assert cells[4, 4] == "no"
    assert len(cells) == 25


def test_a_map_around_one_request_does_not_ask_for_less_than_one() -> None:
    lengths, wanted = map_axes(1, 1)
    assert min(lengths) == min(wanted) == 1
    assert len(set(lengths)) == len(lengths)


def test_an_empty_field_is_absent_from_the_question() -> None:
    question = vram_question(
        {"model": "m", "accelerator": "a", "chunked_prefill": "not_stated", "declared_weights": None}
    )
    assert question == pb.MemoryQuestion(model="m", accelerator="a")
    assert not question.HasField("chunked_prefill")
    assert not question.declared.HasField("weights_bytes")


def test_a_declared_size_in_gib_is_sent_in_bytes() -> None:
    assert vram_question({"declared_weights": 1.5}).declared.weights_bytes == 3 * 1024**3 // 2


def test_a_dropped_config_wins_over_the_model_that_is_picked() -> None:
    question = vram_question({"model": "m"}, b"{}")
    assert question.WhichOneof("model_source") == "config_json"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("question.request_tokens", "request_tokens"),
        ("question.parallelism.tensor", "tensor_parallel"),
        ("question.declared.weights_bytes", "declared_weights"),
        ("question.memory_utilization_ratio", "memory_utilization"),
    ],
)
def test_a_refused_field_is_named_by_its_label(path: str, key: str) -> None:
    assert key_of_field(path) == key
    assert WORDS.has(f"field.{key}")
