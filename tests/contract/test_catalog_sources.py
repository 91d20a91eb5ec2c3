"""No fact of the catalog stands without a source: the handed tables, or a place its own row names."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

import pytest

from tonnage.accuracy import known_observations
from tonnage.capacity.memory.calibrate import calibrate
from tonnage.capacity.memory.constants import DEFAULT, Fitted
from tonnage.catalog import accelerator_table, accelerators, log_figures, model_table, models, table

if TYPE_CHECKING:
    from pathlib import Path

# Column here: columns of the handed table any of which it may repeat.
_MODEL_COLUMNS: Final = {
    "architecture": ("arch_class",),
    "layers": ("num_hidden_layers",),
    "full_layers": ("n_full_attn_layers",),
    "sliding_layers": ("n_sliding_layers",),
    "hidden_size": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads", "kv_heads_full_layers"),
    "head_dim": ("head_dim", "head_dim_full_layers"),
    "value_head_dim": ("v_head_dim",),
    "sliding_window": ("sliding_window",),
    "intermediate_size": ("intermediate_size",),
    "vocabulary_size": ("vocab_size",),
    "tied_embeddings": ("tie_word_embeddings",),
    "max_position_embeddings": ("max_position_embeddings",),
    "total_parameters_b": ("total_params_b",),
    "active_parameters_b": ("active_params_b",),
    "experts": ("moe_experts",),
    "experts_per_token": ("moe_top_k",),
    "shared_experts": ("moe_shared",),
    # Models whose every feed-forward block is an expert state its width once.
    "expert_intermediate_size": ("moe_intermediate_size", "intermediate_size"),
    "dense_layers": ("first_k_dense_replace",),
    "kv_lora_rank": ("kv_lora_rank",),
    "q_lora_rank": ("q_lora_rank",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "index_heads": ("index_n_heads",),
    "index_head_dim": ("index_head_dim",),
    "index_layers": ("indexer_layers",),
    "state_key_heads": ("linear_num_key_heads",),
    "state_key_dim": ("linear_key_head_dim",),
    "tower_layers": ("vision_layers",),
    "tower_hidden_size": ("vision_hidden",),
    "tower_intermediate_size": ("vision_intermediate",),
}
_ACCELERATOR_COLUMNS: Final = {
    "memory_sold_gb": "memory_sold_gb",
    "usable_low_gib": "usable_gib_min",
    "usable_high_gib": "usable_gib_max",
    "memory_bandwidth_gb_per_s": "mem_bandwidth_gb_s",
    "bf16_dense_tflops": "bf16_fp16_dense_tflops",
    "fp8_dense_tflops": "fp8_dense_tflops",
}


def _rows(path: Path, key: str) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def _packaged(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.packaged(name))))


def _more_is_named(ours: dict[str, str], theirs: dict[str, str]) -> bool:
    return ours["source"] != theirs["source"] and ours["source"].startswith(theirs["source"])


def test_a_model_fact_stands_in_the_handed_table_or_its_row_names_another_source(shared: Path) -> None:
    handed = _rows(shared / "truth/models.csv", "model_id")
    unsourced = []
    for ours in _packaged(model_table.FILE):
        theirs = handed[ours["id"]]
        for column, columns in _MODEL_COLUMNS.items():
            known = {theirs[name] or "0" for name in columns}
            if ours[column] and ours[column] not in known and not _more_is_named(ours, theirs):
                unsourced.append((ours["id"], column, ours[column], known))
    assert unsourced == []


def test_a_card_fact_stands_in_the_handed_table_or_its_row_names_another_source(shared: Path) -> None:
    handed = _rows(shared / "truth/gpus.csv", "gpu")
    unsourced = []
    for ours in _packaged(accelerator_table.FILE):
        theirs = handed.get(ours["name"])
        if theirs is None:
            continue
        for column, other in _ACCELERATOR_COLUMNS.items():
            if ours[column] and ours[column] != theirs[other] and not _more_is_named(ours, theirs):
                unsourced.append((ours["id"], column, ours[column], theirs[other]))
    assert unsourced == []


def test_every_row_of_the_catalog_names_its_source() -> None:
    sources = [item.source for item in models()]
    sources += [item.source for item in accelerators()]
    sources += [item.source for item in log_figures()]
    assert len(sources) > 300
    assert all(source.strip() for source in sources)


def test_the_shipped_constants_are_what_the_shipped_logs_give() -> None:
    fitted = calibrate(known_observations())
    for name in {item.constant for item in known_observations()}:
        made, shipped = getattr(fitted, name), getattr(DEFAULT, name)
        assert isinstance(made, Fitted)
        assert (name, shipped.value) == (name, pytest.approx(made.value, rel=0.01))
        assert (name, shipped.log_count) == (name, made.log_count)
