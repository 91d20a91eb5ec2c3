"""The shape of a model from a Hugging Face ``config.json``; what the file states wins over what could be derived."""

from __future__ import annotations

import json
from typing import Final

from tonnage.catalog import states
from tonnage.catalog.config_layers import Layers, layers_of
from tonnage.catalog.config_values import Config
from tonnage.catalog.names import normalize_precision
from tonnage.domain.finding import Finding, Severity
from tonnage.domain.memory import ModelShape
from tonnage.domain.model import CompressionShape, ExpertShape, StateShape, TowerShape
from tonnage.errors import InvalidInput

LARGEST_CONFIG_BYTES: Final = 4 << 20


def _parse(config_json: bytes) -> Config:
    if len(config_json) > LARGEST_CONFIG_BYTES:
        raise InvalidInput.field(
            "config_json", f"{len(config_json)} bytes", "is too large", "give a model's config.json"
        )
    try:
        values = json.loads(config_json.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput.field("config_json", str(error), "is not whole JSON", "give the file uncut") from error
    if not isinstance(values, dict):
        raise InvalidInput.field("config_json", type(values).__name__, "is not an object", "give a model's config.json")
    return Config(values, "config_json")


def _head_dim(text: Config, hidden: int, heads: int) -> int:
    """Return the stated head size; a derived one must divide without rest."""
    stated = text.whole("head_dim", "attention_head_dim", least=1)
    if stated is not None:
        return stated
    if hidden % heads:
        raise InvalidInput.field(
            f"{text.path}.head_dim",
            f"{hidden} / {heads}",
            "is not stated and hidden_size / num_attention_heads is not whole",
            "state head_dim",
        )
    return hidden // heads


def _kv_heads(text: Config, heads: int) -> int:
    """Return the key-value heads, each of as many attention heads as any other; where unstated there are as many."""
    keys = ("num_key_value_heads", "num_kv_heads", "multi_query_group_num")
    stated = text.whole(*keys, least=1)
    if stated is None:
        return heads
    if heads % stated:
        key = next(key for key in keys if text.has(key))
        raise text.refuse(key, f"does not divide the {heads} attention heads", "give the config.json as published")
    return stated


def _experts(text: Config) -> tuple[int | None, ExpertShape | None]:
    count = text.whole("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
    if not count:
        return None, None
    shape = ExpertShape(
        intermediate_size=text.needed("moe_intermediate_size", "intermediate_size"),
        hidden_size=text.whole("moe_latent_size", least=1),
        per_token_count=text.whole("num_experts_per_tok", "num_experts_per_token", "top_k_experts", least=1),
        shared_count=text.whole("n_shared_experts", "num_shared_experts"),
        shared_intermediate_size=text.whole("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"),
        dense_layer_count=text.whole("first_k_dense_replace") or 0,
    )
    return count, shape


def _state(text: Config, hidden: int, layers: Layers) -> StateShape | None:
    if not layers.state:
        return None
    if text.has("linear_num_value_heads"):
        kind = "delta"
        sizes = states.Sizes(
            hidden_size=hidden,
            head_count=text.needed("linear_num_value_heads"),
            value_dim=text.needed("linear_value_head_dim"),
            key_head_count=text.needed("linear_num_key_heads"),
            key_dim=text.needed("linear_key_head_dim"),
            conv_kernel=text.needed("linear_conv_kernel_dim"),
        )
    elif text.has("mamba_num_heads") or text.has("mamba_n_heads"):
        kind = "mamba2"
        sizes = states.Sizes(
            hidden_size=hidden,
            head_count=text.needed("mamba_num_heads", "mamba_n_heads"),
            value_dim=text.needed("mamba_head_dim", "mamba_d_head"),
            state_size=text.needed("ssm_state_size", "mamba_d_state"),
            group_count=text.whole("n_groups", "mamba_n_groups", least=1),
            conv_kernel=text.needed("conv_kernel", "mamba_d_conv"),
        )
    else:
        kind = "mamba1"
        sizes = states.Sizes(
            hidden_size=hidden,
            head_count=hidden * text.needed("mamba_expand"),
            value_dim=1,
            state_size=text.needed("mamba_d_state"),
            conv_kernel=text.needed("mamba_d_conv"),
        )
    wide = {"float32": 4}.get(text.text("mamba_ssm_dtype") or text.text("mamba_ssm_cache_dtype") or "")
    parallel = layers.full + layers.state > text.needed("num_hidden_layers", "n_layer")
    return states.state_shape(
        kind, sizes, layer_count=layers.state, parallel=parallel, element_bytes=wide, path=text.path
    )


def _tower(config: Config) -> TowerShape | None:
    vision = config.inner("vision_config")
    if vision is None:
        return None
    layers = vision.whole("num_hidden_layers", "depth", least=1)
    hidden = vision.whole("hidden_size", "embed_dim", least=1)
    if layers is None or hidden is None:
        return None
    return TowerShape(
        layer_count=layers, hidden_size=hidden, intermediate_size=vision.whole("intermediate_size", least=1)
    )


def _precision(config: Config, text: Config) -> str | None:
    quantization = config.inner("quantization_config") or text.inner("quantization_config")
    if quantization is not None:
        return _quantization(quantization)
    for where in (text, config):
        for key in ("dtype", "torch_dtype"):
            found = where.text(key)
            if found:
                return normalize_precision(found)
    return None


def _quantization(found: Config) -> str:
    method = (found.text("quant_method") or found.text("quant_algo") or "").lower()
    bits = found.whole("bits", "w_bit", "weight_bits")
    if method in {"awq", "gptq", "auto-round", "autoround"}:
        return f"int{bits if bits is not None else 4}"
    if method == "compressed-tensors":
        return _compressed_tensors(found)
    if method == "modelopt":
        return normalize_precision(found.text("quant_algo") or "")
    if not method:
        raise found.refuse("quant_method", "is required and absent", "give the whole config.json")
    return normalize_precision(method)


def _compressed_tensors(found: Config) -> str:
    groups = found.inner("config_groups")
    first = groups.inner("group_0") if groups is not None else None
    weights = first.inner("weights") if first is not None else None
    if weights is None:
        raise found.refuse("config_groups", "does not say how weights are kept", "state the weight precision")
    return f"{'fp' if weights.text('type') == 'float' else 'int'}{weights.needed('num_bits')}"


def _compression(text: Config) -> CompressionShape | None:
    ratios = text.numbers("compress_ratios")
    if ratios is None:
        return None
    return CompressionShape(ratios=tuple((ratio, ratios.count(ratio)) for ratio in sorted(set(ratios))))


def _attention_kind(text: Config, layers: Layers, heads: int, kv_heads: int) -> str:
    if text.has("compress_ratios"):
        return "compressed"
    if layers.state:
        return "hybrid"
    if text.has("kv_lora_rank"):
        return "mla"
    if layers.window:
        return "sliding"
    return "mqa" if kv_heads == 1 else "mha" if kv_heads == heads else "gqa"


def shape_from_config(config_json: bytes, name: str) -> tuple[ModelShape, tuple[Finding, ...]]:
    """Return the shape a ``config.json`` states, and what a reader should know about it.

    Raises ``InvalidInput`` naming the key for cut-off JSON, wrong types, sizes that are not
    stated and do not divide, and layer kinds nobody knows.
    """
    config = _parse(config_json)
    text = config.inner("text_config") or config.inner("llm_config") or config
    hidden = text.needed("hidden_size", "n_embd", "d_model")
    heads = text.needed("num_attention_heads", "n_head", "n_heads")
    count = text.needed("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    layers = layers_of(text, count)
    latent = text.whole("kv_lora_rank", least=1)
    kv_heads = _kv_heads(text, heads)
    head_dim = None if latent is not None else _head_dim(text, hidden, heads)
    expert_count, experts = _experts(text)
    wide_kv = text.whole("num_global_key_value_heads", least=1)
    wide_dim = text.whole("global_head_dim", least=1)
    tied = text.truth("tie_word_embeddings")
    shape = ModelShape(
        name=name,
        architecture=(config.words("architectures") or (None,))[0],
        attention_kind=_attention_kind(text, layers, heads, kv_heads),
        layer_count=count,
        full_layer_count=layers.full,
        sliding_layer_count=layers.window or None,
        sliding_window=text.whole("sliding_window", "attention_chunk_size", least=1) if layers.window else None,
        hidden_size=hidden,
        attention_head_count=heads,
        kv_head_count=wide_kv if wide_kv is not None else kv_heads,
        head_dim=wide_dim if wide_dim is not None else head_dim,
        sliding_kv_head_count=kv_heads if wide_kv is not None else None,
        sliding_head_dim=head_dim if wide_dim is not None else None,
        value_head_dim=text.whole("v_head_dim", least=1),
        intermediate_size=text.whole("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", least=1),
        vocabulary_size=text.needed("vocab_size", "padded_vocab_size"),
        tied_embeddings=tied if tied is not None else config.truth("tie_word_embeddings"),
        max_position_embeddings=text.whole("max_position_embeddings", "n_positions", "seq_length", least=1),
        checkpoint_precision=_precision(config, text),
        expert_count=expert_count,
        experts=experts,
        kv_lora_rank=latent,
        q_lora_rank=text.whole("q_lora_rank", least=1),
        qk_rope_head_dim=text.whole("qk_rope_head_dim", least=1),
        qk_nope_head_dim=text.whole("qk_nope_head_dim", least=1),
        index_head_count=text.whole("index_n_heads", least=1),
        index_head_dim=text.whole("index_head_dim", least=1),
        index_layer_count=count if text.has("index_head_dim") else None,
        kv_shared_layer_count=text.whole("num_kv_shared_layers") or None,
        compression=_compression(text),
        state=_state(text, hidden, layers),
        tower=_tower(config),
        source="config.json given with the question",
    )
    return shape, tuple(_findings(text, shape))


def _findings(text: Config, shape: ModelShape) -> list[Finding]:
    found = []
    if not text.has("head_dim") and shape.head_dim is not None:
        found.append(
            Finding(
                code="HEAD_DIM_DERIVED",
                severity=Severity.INFO,
                message=f"head_dim is not stated; hidden_size / num_attention_heads = {shape.head_dim} was taken",
                path="config_json.head_dim",
                remedy="state head_dim when the model has another one",
            )
        )
    if shape.tied_embeddings is None:
        found.append(
            Finding(
                code="TIED_EMBEDDINGS_NOT_STATED",
                severity=Severity.WARNING,
                message="tie_word_embeddings is not stated; an own output head is counted",
                path="config_json.tie_word_embeddings",
                remedy="state tie_word_embeddings",
            )
        )
    return found
