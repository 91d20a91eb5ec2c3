"""Models whose shape is known; a new one is one row of ``data/models.csv``."""

from __future__ import annotations

import functools
from typing import Final

from tonnage.catalog import states, table
from tonnage.catalog.near import near_names
from tonnage.domain.memory import ModelShape
from tonnage.domain.model import CompressionShape, ExpertShape, StateShape, TowerShape
from tonnage.errors import AmbiguousName, InvalidInput, UnknownName

FILE: Final = "models.csv"
COLUMNS: Final = (
    "id",
    "architecture",
    "attention_kind",
    "layers",
    "full_layers",
    "sliding_layers",
    "hidden_size",
    "heads",
    "kv_heads",
    "head_dim",
    "value_head_dim",
    "sliding_kv_heads",
    "sliding_head_dim",
    "sliding_window",
    "cross_layers",
    "kv_shared_layers",
    "intermediate_size",
    "vocabulary_size",
    "tied_embeddings",
    "max_position_embeddings",
    "checkpoint_precision",
    "total_parameters_b",
    "active_parameters_b",
    "experts",
    "experts_per_token",
    "shared_experts",
    "expert_intermediate_size",
    "expert_hidden_size",
    "shared_expert_intermediate_size",
    "dense_layers",
    "expert_layers",
    "kv_lora_rank",
    "q_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "index_heads",
    "index_head_dim",
    "index_layers",
    "compress_ratios",
    "state_layers",
    "state_kind",
    "state_heads",
    "state_key_heads",
    "state_key_dim",
    "state_value_dim",
    "state_size",
    "state_groups",
    "state_conv_kernel",
    "state_element_bytes",
    "tower_layers",
    "tower_hidden_size",
    "tower_intermediate_size",
    "parameters_source",
    "source",
)
NAMED_TOTAL: Final = "model name"
"""Source of a parameter total that was only read off the model's name."""


def _experts(row: table.Row) -> ExpertShape | None:
    if not row.text("experts"):
        return None
    return ExpertShape(
        intermediate_size=row.needed_whole("expert_intermediate_size"),
        hidden_size=row.whole("expert_hidden_size"),
        per_token_count=row.whole("experts_per_token"),
        shared_count=row.whole("shared_experts"),
        shared_intermediate_size=row.whole("shared_expert_intermediate_size"),
        dense_layer_count=row.whole("dense_layers") or 0,
        layer_count=row.whole("expert_layers"),
    )


def _state(row: table.Row) -> StateShape | None:
    kind = row.text("state_kind")
    if not kind:
        return None
    sizes = states.Sizes(
        hidden_size=row.needed_whole("hidden_size"),
        head_count=row.needed_whole("state_heads"),
        value_dim=row.needed_whole("state_value_dim"),
        key_head_count=row.whole("state_key_heads"),
        key_dim=row.whole("state_key_dim"),
        state_size=row.whole("state_size"),
        group_count=row.whole("state_groups"),
        conv_kernel=row.needed_whole("state_conv_kernel"),
    )
    return states.state_shape(
        kind,
        sizes,
        layer_count=row.needed_whole("state_layers"),
        parallel=(row.whole("full_layers") or 0) + row.needed_whole("state_layers") > row.needed_whole("layers"),
        element_bytes=row.whole("state_element_bytes"),
        path=row.path,
    )


def _tower(row: table.Row) -> TowerShape | None:
    layers, hidden = row.whole("tower_layers"), row.whole("tower_hidden_size")
    if layers is None or hidden is None:
        return None
    return TowerShape(layer_count=layers, hidden_size=hidden, intermediate_size=row.whole("tower_intermediate_size"))


def _compression(row: table.Row) -> CompressionShape | None:
    text = row.text("compress_ratios")
    if not text:
        return None
    pairs = []
    for part in text.split():
        ratio, _, layers = part.partition("x")
        if not (ratio.isdigit() and layers.isdigit()):
            raise InvalidInput.field(
                f"{row.path}.compress_ratios", part, "is not RATIOxLAYERS", "write for example 4x21"
            )
        pairs.append((int(ratio), int(layers)))
    return CompressionShape(ratios=tuple(pairs))


def _parameters(row: table.Row, column: str) -> int | None:
    value = row.number(column)
    return None if value is None else round(value * 1e9)


def _shape(row: table.Row) -> ModelShape:
    return ModelShape(
        name=row.required("id"),
        architecture=row.text("architecture") or None,
        attention_kind=row.required("attention_kind"),
        layer_count=row.needed_whole("layers"),
        full_layer_count=row.whole("full_layers"),
        sliding_layer_count=row.whole("sliding_layers"),
        hidden_size=row.whole("hidden_size"),
        attention_head_count=row.whole("heads"),
        kv_head_count=row.whole("kv_heads"),
        head_dim=row.whole("head_dim"),
        value_head_dim=row.whole("value_head_dim"),
        sliding_kv_head_count=row.whole("sliding_kv_heads"),
        sliding_head_dim=row.whole("sliding_head_dim"),
        sliding_window=row.whole("sliding_window"),
        cross_layer_count=row.whole("cross_layers"),
        kv_shared_layer_count=row.whole("kv_shared_layers"),
        intermediate_size=row.whole("intermediate_size"),
        vocabulary_size=row.whole("vocabulary_size"),
        tied_embeddings=row.truth("tied_embeddings"),
        max_position_embeddings=row.whole("max_position_embeddings"),
        checkpoint_precision=row.text("checkpoint_precision") or None,
        total_parameter_count=_parameters(row, "total_parameters_b"),
        active_parameter_count=_parameters(row, "active_parameters_b"),
        expert_count=row.whole("experts"),
        experts=_experts(row),
        kv_lora_rank=row.whole("kv_lora_rank"),
        q_lora_rank=row.whole("q_lora_rank"),
        qk_rope_head_dim=row.whole("qk_rope_head_dim"),
        qk_nope_head_dim=row.whole("qk_nope_head_dim"),
        index_head_count=row.whole("index_heads"),
        index_head_dim=row.whole("index_head_dim"),
        index_layer_count=row.whole("index_layers"),
        compression=_compression(row),
        state=_state(row),
        tower=_tower(row),
        source=row.required("source"),
        extra=(("parameters_source", row.text("parameters_source")),),
    )


def read(text: str) -> tuple[ModelShape, ...]:
    """Return the models of a catalog file's text, by id, case ignored."""
    return tuple(sorted((_shape(row) for row in table.rows(text, FILE, COLUMNS)), key=lambda item: item.name.lower()))


@functools.cache
def models() -> tuple[ModelShape, ...]:
    """Return every model of the catalog, by id."""
    return read(table.packaged(FILE))


@functools.cache
def _by_id() -> dict[str, ModelShape]:
    return {item.name.lower(): item for item in models()}


@functools.cache
def _by_bare_name() -> dict[str, tuple[ModelShape, ...]]:
    found: dict[str, tuple[ModelShape, ...]] = {}
    for item in models():
        key = item.name.lower().rsplit("/", 1)[-1]
        found[key] = (*found.get(key, ()), item)
    return found


def model(name: str) -> ModelShape:
    """Return the model of an id, case ignored, or of a bare name only one model has.

    Raises ``AmbiguousName`` listing the ids, ``UnknownName`` with near names.
    """
    key = name.strip().lower()
    if key in _by_id():
        return _by_id()[key]
    found = _by_bare_name().get(key, ())
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(item.name for item in found)
        raise AmbiguousName(f"model {name!r} means several: {ids}; name one of them", name=name, candidates=ids)
    close = near_names(name, [item.name for item in models()])
    hint = "did you mean " + ", ".join(close) if close else "give its shape or its config.json"
    raise UnknownName(f"model {name!r} is not in the catalog; {hint}", name=name, near=", ".join(close))
