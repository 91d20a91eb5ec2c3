"""The model catalog."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tonnage import catalog
from tonnage.catalog import model_table as module
from tonnage.catalog import table
from tonnage.errors import AmbiguousName, InvalidInput, UnknownName


def test_a_bare_name_means_the_one_model_that_has_it() -> None:
    assert catalog.model("qwen3-8b").name == "Qwen/Qwen3-8B"
    assert catalog.model("QWEN/QWEN3-8B").name == "Qwen/Qwen3-8B"


def test_a_bare_name_of_two_models_is_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    one = catalog.model("Qwen/Qwen3-8B")
    monkeypatch.setattr(module, "_by_bare_name", lambda: {"qwen3-8b": (one, replace(one, name="fork/Qwen3-8B"))})
    with pytest.raises(AmbiguousName) as caught:
        catalog.model("Qwen3-8B")
    assert caught.value.context["candidates"] == "Qwen/Qwen3-8B, fork/Qwen3-8B"


def test_an_unknown_model_names_near_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.model("Qwen3-8C")
    assert "Qwen/Qwen3-8B" in caught.value.context["near"]


def test_full_and_window_layers_keep_their_own_heads() -> None:
    shape = catalog.model("google/gemma-4-31B-it")
    assert (shape.full_layer_count, shape.sliding_layer_count) == (10, 50)
    assert (shape.kv_head_count, shape.head_dim) == (4, 512)
    assert (shape.sliding_kv_head_count, shape.sliding_head_dim, shape.sliding_window) == (16, 256, 1024)


def test_the_state_of_a_hybrid_is_counted_from_its_dimensions() -> None:
    state = catalog.model("Qwen/Qwen3.6-27B").state
    assert state is not None
    assert (state.layer_count, state.ssm_elements, state.conv_channels) == (48, 786_432, 10_240)
    parallel = catalog.model("tiiuae/Falcon-H1-3B-Base").state
    assert parallel is not None
    assert parallel.parallel is True
    assert parallel.ssm_elements == 1_048_576


def test_loading_takes_milliseconds() -> None:
    start = time.perf_counter()
    module.read(table.packaged(module.FILE))
    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("layers", "", "required"),
        ("layers", "3.5", "not a whole number"),
        ("total_parameters_b", "-1", "above 0"),
        ("tied_embeddings", "maybe", "true or false"),
        ("compress_ratios", "4by21", "RATIOxLAYERS"),
    ],
)
def test_a_wrong_fact_names_row_and_column(column: str, value: str, problem: str) -> None:
    header, *lines = table.packaged(module.FILE).splitlines()
    names = header.split(",")
    cells = next(line for line in lines if line.startswith("01-ai/Yi-34B")).split(",")
    cells[names.index(column)] = value
    # The source column holds commas in quotes; this row has them in one place only.
    with pytest.raises(InvalidInput, match=problem) as caught:
        module.read(header + "\n" + ",".join(cells))
    assert caught.value.context["field"] == f"models.csv[2].{column}"


def test_an_id_that_stands_twice_is_refused() -> None:
    header, line, *_ = table.packaged(module.FILE).splitlines()
    with pytest.raises(InvalidInput, match="stands twice"):
        module.read(f"{header}\n{line}\n{line}")


def test_every_model_names_its_source() -> None:
    assert all(shape.source for shape in catalog.models())
