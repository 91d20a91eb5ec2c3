"""The packaged facts: every model and card can be asked, and agrees with the handed tables."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tonnage import catalog
from tonnage.capacity.memory import fit
from tonnage.capacity.memory.dtypes import cache_format
from tonnage.capacity.memory.layout import CacheKind, Split, layout
from tonnage.capacity.memory.parameters import parts
from tonnage.domain.memory import MemoryQuestion
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.domain.memory import ModelShape

PRICED_OTHERWISE = {
    "google/gemma-4-E4B-it",  # the last layers read the cache of earlier ones
    "openbmb/MiniCPM3-4B",  # the table prices its latent rows as full heads
}
ENGINES = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "generic")
WITHOUT_SIZES = {
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2",  # no head counts
    "tiiuae/Falcon-H1-0.5B-Base",  # neither a total nor the widths it could be counted from
    "tiiuae/Falcon-H1-1.5B-Base",
}
"""Models whose page states too little; they are answered with the field that is missing."""


@pytest.mark.parametrize("engine", ENGINES)
def test_every_model_gets_an_answer_or_the_field_it_lacks(engine: str) -> None:
    device = catalog.accelerator("h200-sxm-141gb")
    for shape in catalog.models():
        question = MemoryQuestion(shape=shape, device=device, engine=engine)
        if shape.name in WITHOUT_SIZES:
            with pytest.raises(InvalidInput, match=r"shape\."):
                fit(question)
        else:
            assert fit(question).model_weights_bytes > 0


@pytest.mark.parametrize("card", [item.id for item in catalog.accelerators()])
def test_every_card_gets_an_answer_or_asks_for_its_memory(card: str) -> None:
    question = MemoryQuestion(shape=catalog.model("Qwen/Qwen3-0.6B"), device=catalog.accelerator(card), engine="vllm")
    answer = fit(question)
    assert answer.total_bytes > 4 << 30


def _flat_16bit(shape: ModelShape) -> int:
    kept = layout(shape, cache_format("bf16"), Split(tensor=1, pipeline=1))
    index = sum(group.token_bytes * group.layer_count for group in kept.groups if group.name == "indexer")
    return round(kept.token_bytes - index)


def test_cache_bytes_a_token_agree_with_the_handed_table(shared: Path) -> None:
    checked = 0
    with (shared / "truth/models.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            shape = catalog.model(row["model_id"])
            wanted = row["kv_bytes_per_token_16bit"]
            if not wanted or shape.name in PRICED_OTHERWISE:
                continue
            assert _flat_16bit(shape) == int(wanted), shape.name
            checked += 1
    assert checked > 180


def test_states_agree_with_the_handed_table(shared: Path) -> None:
    checked = 0
    with (shared / "truth/models.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            state = catalog.model(row["model_id"]).state
            if state is None or not row["ssm_elems_per_layer"]:
                continue
            assert state.ssm_elements == int(row["ssm_elems_per_layer"]), row["model_id"]
            assert state.conv_channels * (state.conv_kernel - 1) == int(row["conv_elems_per_layer"]), row["model_id"]
            checked += 1
    assert checked > 25


def test_counted_parameters_agree_with_totals_computed_from_configs() -> None:
    errors = {}
    for shape in catalog.models():
        source = dict(shape.extra)["parameters_source"]
        if shape.total_parameter_count is None or not source.startswith("computed from the config"):
            continue
        found = parts(shape)
        counted = found.ends_count + found.expert_count + found.linear_count
        errors[shape.name] = abs(counted / shape.total_parameter_count - 1)
    within = [name for name, error in errors.items() if error <= 0.02]
    assert len(errors) > 120
    assert len(within) / len(errors) > 0.93


def test_every_layer_of_a_mixed_model_is_counted_once() -> None:
    for shape in catalog.models():
        if shape.state is not None or shape.compression is not None or shape.attention_kind == "gqa+cross":
            continue
        if shape.name in WITHOUT_SIZES or shape.layer_count is None or shape.kv_shared_layer_count is not None:
            continue
        kept = layout(shape, cache_format("bf16"), Split(tensor=1, pipeline=1))
        layers = sum(g.layer_count for g in kept.groups if g.kind is not CacheKind.STATE and g.name != "indexer")
        stated = (shape.full_layer_count or 0) + (shape.sliding_layer_count or 0)
        assert layers == stated, shape.name
