"""Bytes one number takes, as a weight and as a cache element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tonnage.errors import InvalidInput

_GROUP_SCALED_4BIT: Final = (4 * 128 + 20) / (8 * 128)
"""4 bits, and a 16-bit scale with a 4-bit zero point for every 128 weights."""
_MXFP4: Final = 17 / 32
"""4 bits and one 8-bit scale for every 32."""
_NVFP4: Final = 9 / 16
"""4 bits and one 8-bit scale for every 16."""

_CACHE_BYTES: Final[dict[str, float]] = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "nvfp4": _NVFP4,
    "int4": 1 / 2,
    # Blocks of 32 with their scales, as GGUF files keep them.
    "q8_0": 34 / 32,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
}
_CACHE_NAMES: Final = {
    "f32": "fp32",
    "float32": "fp32",
    "bfloat16": "bf16",
    "f16": "fp16",
    "float16": "fp16",
    "half": "fp16",
    "fp8_inc": "fp8",
    "fp4": "nvfp4",
    "8bit": "int8",
}
_PACKED_LATENT: Final = frozenset({"fp8_ds_mla", "nvfp4_ds_mla"})


@dataclass(frozen=True, slots=True)
class CacheFormat:
    """How a cache element is kept."""

    name: str
    element_bytes: float
    packed_latent: bool = False
    """Latent rows are packed: 8-bit values, their scales, a 16-bit rotary part."""


def cache_format(name: str) -> CacheFormat:
    """Return the format of a cache type; raises ``InvalidInput`` naming the field for one nobody knows."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key.startswith(("fp8_e", "float8")):
        key = "fp8"
    if key in _PACKED_LATENT:
        return CacheFormat(key, 1.0, packed_latent=True)
    key = _CACHE_NAMES.get(key, key)
    if key not in _CACHE_BYTES:
        known = sorted({*_CACHE_BYTES, *_PACKED_LATENT})
        raise InvalidInput.field("kv_cache_type", name, "is not a cache type", "use one of " + ", ".join(known))
    return CacheFormat(key, _CACHE_BYTES[key])


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """Bytes per parameter of the parts of a model; ends are the embedding and the output head."""

    name: str
    dense_bytes: float
    attention_bytes: float
    expert_bytes: float
    ends_bytes: float
    model_bits_16: bool = True
    note: str = ""

    @property
    def quantized(self) -> bool:
        """Tell whether some parts are narrower than the ends."""
        return self.expert_bytes != self.ends_bytes


def _uniform(name: str, linear: float, ends: float = 2.0, note: str = "") -> WeightFormat:
    return WeightFormat(name, linear, linear, linear, ends, note=note)


_TWO: Final = 2.0
_WEIGHTS: Final[dict[str, WeightFormat]] = {
    "fp32": _uniform("fp32", 4.0, 4.0),
    "bf16": _uniform("bf16", _TWO),
    "fp16": _uniform("fp16", _TWO),
    "fp8": _uniform("fp8", 1.0, note="embedding and head stay at 16 bits"),
    "int8": _uniform("int8", 1.0, note="embedding and head stay at 16 bits"),
    "int4": _uniform("int4", _GROUP_SCALED_4BIT, note="4 bits and scales of groups of 128; embedding and head at 16"),
    "mxfp4": WeightFormat("mxfp4", _TWO, _TWO, _MXFP4, _TWO, note="experts only; all else at 16 bits"),
    "nvfp4": WeightFormat("nvfp4", _NVFP4, _TWO, _NVFP4, _TWO, note="feed-forward parts only; builds differ widely"),
    "fp8-mxfp4": WeightFormat("fp8-mxfp4", _TWO, _TWO, _MXFP4, _TWO, note="experts in 4 bits, little else below 16"),
    "q8_0": _uniform("q8_0", 34 / 32, 34 / 32),
    "q6_k": _uniform("q6_k", 210 / 256, 210 / 256),
    "q5_k": _uniform("q5_k", 176 / 256, 176 / 256),
    "q4_k": _uniform("q4_k", 144 / 256, 144 / 256),
    "q4_0": _uniform("q4_0", 18 / 32, 18 / 32),
}
_WEIGHT_NAMES: Final = {
    "awq-int4": "int4",
    "gptq-int4": "int4",
    "awq": "int4",
    "gptq": "int4",
    "int4-awq": "int4",
    "w4a16": "int4",
    "w8a8": "int8",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
}


def weight_format(name: str) -> WeightFormat:
    """Return the format of a weight precision; raises ``InvalidInput`` naming the field for one nobody knows."""
    key = name.strip().lower()
    key = _WEIGHT_NAMES.get(key, key)
    if key not in _WEIGHTS:
        known = sorted({*_WEIGHTS, *_WEIGHT_NAMES})
        raise InvalidInput.field(
            "weight_precision", name, "is not a weight precision", "use one of " + ", ".join(known)
        )
    return _WEIGHTS[key]
