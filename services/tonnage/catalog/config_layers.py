"""How many layers of a config keep every token, a window, a state, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tonnage.catalog.config_values import Config

_FULL_WORDS: Final = frozenset({"full_attention", "attention", "global", "deepseek_sparse_attention"})
_STATE_WORDS: Final = frozenset({"linear_attention", "mamba", "mamba2", "recurrent"})
_WINDOW_WORDS: Final = frozenset({"sliding_attention", "chunked_attention", "local"})


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers by what they keep."""

    full: int
    window: int
    state: int


def layers_of(text: Config, count: int) -> Layers:
    """Return the layers by kind; raises ``InvalidInput`` for kinds nobody knows."""
    kinds = text.words("layer_types") or text.words("layers_block_type")
    if kinds is not None:
        return _counted(text, kinds, count)
    pattern = text.text("hybrid_override_pattern")
    if pattern is not None:
        return Layers(pattern.count("*"), 0, pattern.count("M"))
    interval = text.whole("full_attention_interval", least=1)
    if interval is not None:
        return Layers(count // interval, 0, count - count // interval)
    period = text.whole("attn_layer_period", least=1)
    if period is not None:
        offset = text.whole("attn_layer_offset") or 0
        full = sum(1 for index in range(count) if index % period == offset)
        return Layers(full, 0, count - full)
    return _windowed(text, count)


def _counted(text: Config, kinds: tuple[str, ...], count: int) -> Layers:
    if len(kinds) != count:
        raise text.refuse("layer_types", f"has {len(kinds)} entries for {count} layers", "give the file uncut")
    unknown = set(kinds) - _FULL_WORDS - _STATE_WORDS - _WINDOW_WORDS - {"moe", "mlp", "hybrid"}
    if unknown:
        raise text.refuse(
            "layer_types", f"holds kinds nobody knows: {', '.join(sorted(unknown))}", "state a shape instead"
        )
    hybrid = sum(kind == "hybrid" for kind in kinds)
    return Layers(
        sum(kind in _FULL_WORDS for kind in kinds) + hybrid,
        sum(kind in _WINDOW_WORDS for kind in kinds),
        sum(kind in _STATE_WORDS for kind in kinds) + hybrid,
    )


def _windowed(text: Config, count: int) -> Layers:
    if text.whole("sliding_window", "attention_chunk_size") is None or text.truth("use_sliding_window") is False:
        return Layers(count, 0, 0)
    pattern = text.whole("sliding_window_pattern", "_sliding_window_pattern", least=1)
    if pattern is not None:
        return Layers(count // pattern, count - count // pattern, 0)
    first = text.whole("max_window_layers") if text.truth("use_sliding_window") else None
    if first is not None:
        return Layers(min(first, count), max(0, count - first), 0)
    return Layers(0, count, 0)
