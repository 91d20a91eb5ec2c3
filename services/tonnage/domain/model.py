"""Parts of a model's shape that only some architectures have: experts, recurrent state, towers."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tonnage import checks


def _hold_counts(item: object, names: tuple[str, ...], prefix: str, least_zero: frozenset[str]) -> None:
    for name in names:
        value = getattr(item, name)
        if isinstance(value, int) and not isinstance(value, bool):
            checks.count(f"{prefix}.{name}", value, least=0 if name in least_zero else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertShape:
    """Feed-forward layers cut into experts; sizes are of one expert."""

    intermediate_size: int
    hidden_size: int | None = None
    """Width of an expert's input and output; None is the model's hidden size."""
    per_token_count: int | None = None
    shared_count: int | None = None
    shared_intermediate_size: int | None = None
    dense_layer_count: int = 0
    """Leading layers that keep one dense feed-forward block."""
    layer_count: int | None = None
    """Layers that have experts; None is all but the dense ones."""

    def __post_init__(self) -> None:
        """Hold counts to 1 or more, the dense and shared ones to 0 or more."""
        names = tuple(item.name for item in fields(self))
        least_zero = frozenset({"dense_layer_count", "shared_count", "shared_intermediate_size"})
        _hold_counts(self, names, "experts", least_zero)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateShape:
    """Layers that keep one state per request instead of one row per token.

    ``ssm_elements`` and ``conv_channels`` are of one layer of the whole model; the state
    holds ``conv_kernel - 1`` columns of all channels. ``parameter_count`` is of one layer.
    """

    layer_count: int
    ssm_elements: int
    conv_channels: int
    conv_kernel: int
    parameter_count: int | None = None
    ssm_element_bytes: int | None = None
    """Bytes of one element of the recurrent part; None follows the model's type."""
    parallel: bool = False
    """The same layers attend too."""
    chunk_tokens: int | None = None
    """Tokens a prefill takes at once; a state stands at the end of each. None scans token by token."""

    def __post_init__(self) -> None:
        """Hold counts to 1 or more."""
        sizes = ("layer_count", "ssm_elements", "conv_channels", "conv_kernel", "parameter_count", "ssm_element_bytes")
        _hold_counts(self, (*sizes, "chunk_tokens"), "state", frozenset({"conv_channels"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerShape:
    """An encoder beside the language model (vision or audio)."""

    layer_count: int
    hidden_size: int
    intermediate_size: int | None = None

    def __post_init__(self) -> None:
        """Hold counts to 1 or more."""
        _hold_counts(self, tuple(item.name for item in fields(self)), "tower", frozenset())

    @property
    def parameter_count(self) -> int:
        """Return 4 h^2 of attention and 2 h I of the feed-forward block, over all layers; I defaults to 4 h."""
        inner = self.intermediate_size if self.intermediate_size is not None else 4 * self.hidden_size
        return self.layer_count * (4 * self.hidden_size**2 + 2 * self.hidden_size * inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionShape:
    """Attention that keeps one row every ``ratio`` tokens: (ratio, layers); ratio 0 keeps a window."""

    ratios: tuple[tuple[int, int], ...]
