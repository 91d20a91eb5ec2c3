"""Sizes of the state that recurrent layers keep, from the dimensions a config states.

Sources: gated delta networks and Mamba-1/2 as their public model code lays them out
(``docs/vram.md``): a convolution state of ``kernel - 1`` columns and a recurrent matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

from tonnage.domain.model import StateShape
from tonnage.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Dimensions of one recurrent layer, whole model."""

    hidden_size: int
    head_count: int
    value_dim: int
    conv_kernel: int
    key_head_count: int | None = None
    key_dim: int | None = None
    state_size: int | None = None
    group_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    ssm_elements: int
    conv_channels: int
    parameter_count: int


def _delta(sizes: Sizes, path: str) -> _Layer:
    """Gated delta: heads x key x value elements; channels of queries, keys and values."""
    key_heads = _stated(sizes.key_head_count, "state_key_heads", path)
    key_dim = _stated(sizes.key_dim, "state_key_dim", path)
    keys, values = key_heads * key_dim, sizes.head_count * sizes.value_dim
    channels = 2 * keys + values
    projections = sizes.hidden_size * (2 * keys + 3 * values + 2 * sizes.head_count)
    return _Layer(
        ssm_elements=sizes.head_count * key_dim * sizes.value_dim,
        conv_channels=channels,
        parameter_count=projections + channels * sizes.conv_kernel,
    )


def _mamba2(sizes: Sizes, path: str) -> _Layer:
    """Mamba-2: heads x head size x state; channels of x, B and C; gated input and output projections."""
    state = _stated(sizes.state_size, "state_size", path)
    groups = sizes.group_count if sizes.group_count is not None else 1
    inner = sizes.head_count * sizes.value_dim
    channels = inner + 2 * groups * state
    projections = sizes.hidden_size * (inner + channels + sizes.head_count + inner)
    return _Layer(
        ssm_elements=inner * state,
        conv_channels=channels,
        parameter_count=projections + channels * sizes.conv_kernel,
    )


def _mamba1(sizes: Sizes, path: str) -> _Layer:
    """Mamba-1: inner width x state; channels of x only."""
    state = _stated(sizes.state_size, "state_size", path)
    inner = sizes.head_count * sizes.value_dim
    rank = -(-sizes.hidden_size // 16)
    projections = 3 * sizes.hidden_size * inner + inner * (rank + 2 * state) + rank * inner
    return _Layer(
        ssm_elements=inner * state,
        conv_channels=inner,
        parameter_count=projections + inner * (sizes.conv_kernel + state),
    )


_CHUNK_TOKENS = {"delta": 64, "mamba2": 256}
"""Chunks of the prefill scan: the delta rule's kernels cut at 64, Mamba-2 configs name 256 (``mamba_chunk_size``)."""

_KINDS = {"delta": _delta, "mamba2": _mamba2, "mamba1": _mamba1}


def _stated(value: int | None, column: str, path: str) -> int:
    if value is None:
        raise InvalidInput.field(f"{path}.{column}", None, "is required and empty", "state it for this kind of layer")
    return value


def state_shape(
    kind: str, sizes: Sizes, *, layer_count: int, parallel: bool, element_bytes: int | None, path: str
) -> StateShape:
    """Return the state of recurrent layers of a kind: delta, mamba1 or mamba2."""
    if kind not in _KINDS:
        raise InvalidInput.field(f"{path}.state_kind", kind, "is not known", "use one of " + ", ".join(sorted(_KINDS)))
    layer = _KINDS[kind](sizes, path)
    return StateShape(
        layer_count=layer_count,
        ssm_elements=layer.ssm_elements,
        conv_channels=layer.conv_channels,
        conv_kernel=sizes.conv_kernel,
        parameter_count=layer.parameter_count,
        ssm_element_bytes=element_bytes,
        parallel=parallel,
        chunk_tokens=_CHUNK_TOKENS.get(kind),
    )
