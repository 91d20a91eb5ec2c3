"""Shapes read from a config.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tonnage import catalog
from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.memory import ModelShape

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def _shape(changes: dict[str, object]) -> ModelShape:
    return catalog.shape_from_config(json.dumps({**LLAMA, **changes}).encode(), "given")[0]


def test_a_config_gives_the_shape_the_catalog_has() -> None:
    shape, known = _shape({"head_dim": 128}), catalog.model("meta-llama/Llama-3.1-8B-Instruct")
    for name in ("layer_count", "hidden_size", "kv_head_count", "head_dim", "vocabulary_size", "checkpoint_precision"):
        assert getattr(shape, name) == getattr(known, name)


def test_the_stated_head_size_wins_and_a_derived_one_is_said() -> None:
    assert _shape({"head_dim": 256}).head_dim == 256
    shape, findings = catalog.shape_from_config(json.dumps(LLAMA).encode(), "given")
    assert shape.head_dim == 128
    assert "HEAD_DIM_DERIVED" in {item.code for item in findings}


def test_a_division_with_rest_fails_loudly() -> None:
    with pytest.raises(InvalidInput, match="not whole") as caught:
        _shape({"hidden_size": 4100})
    assert caught.value.context["field"] == "config_json.head_dim"


def test_text_parts_of_multimodal_configs_are_read() -> None:
    config = {
        "architectures": ["SomeForConditionalGeneration"],
        "text_config": {**LLAMA, "head_dim": 128},
        "vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304},
    }
    shape, _ = catalog.shape_from_config(json.dumps(config).encode(), "given")
    assert shape.layer_count == 32
    assert shape.tower is not None
    assert shape.tower.layer_count == 27


def test_layer_kinds_are_counted() -> None:
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    shape = _shape({"num_hidden_layers": 12, "layer_types": kinds * 2, "sliding_window": 512})
    assert (shape.full_layer_count, shape.sliding_layer_count, shape.sliding_window) == (2, 10, 512)


def test_a_layer_kind_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="psychic_attention"):
        _shape({"layer_types": ["psychic_attention"] * 32})


def test_a_window_that_is_switched_off_is_no_window() -> None:
    assert _shape({"sliding_window": 4096, "use_sliding_window": False}).sliding_layer_count is None
    assert _shape({"sliding_window": 4096}).sliding_layer_count == 32


def test_latent_attention_and_experts_are_read() -> None:
    shape = _shape(
        {
            "kv_lora_rank": 512,
            "q_lora_rank": 1536,
            "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128,
            "v_head_dim": 128,
            "n_routed_experts": 256,
            "moe_intermediate_size": 2048,
            "num_experts_per_tok": 8,
            "n_shared_experts": 1,
            "first_k_dense_replace": 3,
        }
    )
    assert (shape.kv_lora_rank, shape.qk_rope_head_dim, shape.head_dim) == (512, 64, None)
    assert shape.expert_count == 256
    assert shape.experts is not None
    assert shape.experts.dense_layer_count == 3


def test_recurrent_layers_are_read() -> None:
    shape = _shape(
        {
            "full_attention_interval": 4,
            "linear_num_value_heads": 48,
            "linear_num_key_heads": 16,
            "linear_key_head_dim": 128,
            "linear_value_head_dim": 128,
            "linear_conv_kernel_dim": 4,
            "mamba_ssm_dtype": "float32",
        }
    )
    assert shape.full_layer_count == 8
    assert shape.state is not None
    assert (shape.state.layer_count, shape.state.ssm_elements, shape.state.ssm_element_bytes) == (24, 786_432, 4)


@pytest.mark.parametrize(
    ("quantization", "precision"),
    [
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
    ],
)
def test_the_checkpoints_precision_is_read(quantization: dict[str, object], precision: str) -> None:
    assert _shape({"quantization_config": quantization}).checkpoint_precision == precision


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_hidden_layers": None}, "config_json.num_hidden_layers"),
        ({"num_hidden_layers": "32"}, "config_json.num_hidden_layers"),
        ({"num_hidden_layers": True}, "config_json.num_hidden_layers"),
        ({"num_hidden_layers": -1}, "config_json.num_hidden_layers"),
        ({"num_hidden_layers": 2**53 + 1}, "config_json.num_hidden_layers"),
        ({"vocab_size": 0}, "config_json.vocab_size"),
        ({"num_key_value_heads": 7}, "config_json.num_key_value_heads"),
        ({"tie_word_embeddings": "no"}, "config_json.tie_word_embeddings"),
        ({"layer_types": "full"}, "config_json.layer_types"),
        ({"text_config": []}, "config_json.text_config"),
        ({"quantization_config": {"bits": 4}}, "config_json.quantization_config.quant_method"),
    ],
)
def test_a_wrong_type_or_value_names_its_key(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _shape(changes)
    assert caught.value.context["field"] == field


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000])
def test_what_is_no_whole_object_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        catalog.shape_from_config(text, "given")
    assert caught.value.context["field"] == "config_json"


def test_every_cut_of_a_config_is_refused_by_name() -> None:
    whole = json.dumps(LLAMA).encode()
    for end in range(0, len(whole), 17):
        with pytest.raises(InvalidInput):
            catalog.shape_from_config(whole[:end], "given")
