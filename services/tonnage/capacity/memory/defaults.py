"""The question with its gaps filled by each engine's defaults; what was filled is listed.

vLLM: 256 sequences and 2,048 tokens a step on small cards and A100, 1,024 and 8,192 from
70 GiB on, 16,384 tokens from 160 GiB on in newer releases; utilization 0.90, then 0.92.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.dtypes import CacheFormat, WeightFormat, cache_format, weight_format
from tonnage.capacity.memory.sglang import default_fraction, default_step
from tonnage.capacity.memory.version import Version, is_v0, parse_version
from tonnage.errors import InvalidInput
from tonnage.units import GIB

if TYPE_CHECKING:
    from tonnage.domain.hardware import Accelerator
    from tonnage.domain.memory import MemoryQuestion, ModelShape

ENGINES: Final = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "generic")
_ENGINE_NAMES: Final = {"ik-llama.cpp": "llama.cpp", "ollama": "llama.cpp", "tgi": "generic", "lmdeploy": "generic"}

# What a release is taken to be when nobody said: the one most of the logs behind the model came from.
_USUAL: Final = {"vllm": Version(0, 19), "sglang": Version(0, 5), "tensorrt-llm": Version(0, 20)}
_FIRST_WITH_COMPRESSION: Final = Version(0, 20)
"""No earlier release runs models of compressed attention."""
_USUAL_WITH_STATES: Final = Version(0, 20)
"""Of eight logs of recurrent hybrids that state a release seven come from this one or a newer one."""
FIRST_TWO_STEPS: Final = Version(0, 22)
"""From here on two steps are in flight, so a window reserves for both (four logs of two families)."""
FIRST_V1: Final = Version(0, 8)
_FIRST_092: Final = Version(0, 25)
_FIRST_LARGE_STEP: Final = Version(0, 24)
_LARGE_CARD_BYTES: Final = 70 * GIB
_VERY_LARGE_CARD_BYTES: Final = 160 * GIB
_V0_CHUNKED_ABOVE: Final = 32_768
_DRIVER_SHARE_BYTES: Final = round(0.45 * GIB)
"""A process sees this much less than the driver's listing shows (A10, L4, RTX 4090 and 5090, H100, RTX 6000 Ada)."""
_SOLD_GB_SEEN: Final = 0.97
"""Share of the decimal size a card shows at the least, over the cards of the catalog."""

_UTILIZATION: Final = {"tensorrt-llm": 0.90, "llama.cpp": 1.0, "generic": 0.90}
_SEQUENCES: Final = {"sglang": 256, "tensorrt-llm": 2048, "llama.cpp": 1, "generic": 256}
_STEP: Final = {"tensorrt-llm": 8192, "llama.cpp": 512, "generic": 2048}
_BLOCK: Final = {"vllm": 16, "sglang": 1, "tensorrt-llm": 32, "llama.cpp": 1, "generic": 16}
_PACKED: Final = "fp8_ds_mla"
_DTYPES: Final = frozenset({"bf16", "fp16", "fp32"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A question without gaps, and the list of what was filled in."""

    question: MemoryQuestion
    engine: str
    version: Version | None
    total_bytes: int
    utilization: float
    max_len: int | None
    sequences: int
    step_tokens: int
    chunked: bool
    eager: bool
    block_tokens: int
    weights: WeightFormat
    cache: CacheFormat
    model_element_bytes: int
    assumed: tuple[str, ...]

    @property
    def v0(self) -> bool:
        """Tell whether this is vLLM's old engine."""
        return self.version is not None and (self.version < FIRST_V1 or is_v0(self.question.engine_version))

    @property
    def shape(self) -> ModelShape:
        """Return the shape asked about."""
        return self.question.shape

    def at_least(self, major: int, minor: int) -> bool:
        """Tell whether the release is this one or newer."""
        return self.version is not None and self.version >= Version(major, minor)


class _Filling:
    """Takes what is stated, else a default that is written down."""

    def __init__(self) -> None:
        self.assumed: list[str] = []

    def take(self, name: str, stated: int | None, default: int) -> int:
        """Return the stated number, else the default."""
        if stated is not None:
            return stated
        self.assumed.append(f"{name} = {default:,}")
        return default

    def note(self, text: str) -> None:
        """Write an assumption down."""
        self.assumed.append(text)


def device_bytes(device: Accelerator, filling: _Filling) -> int:
    """Return what the driver shows, the low end where cards differ; raises ``InvalidInput`` when nothing is known."""
    low, high = device.usable_low_bytes, device.usable_high_bytes
    if (low is not None and low < 1) or (high is not None and high < 1):
        raise InvalidInput.field("declared_device.total_bytes", 0, "is below 1", "give the card's memory")
    if low is not None:
        return low
    if high is not None:
        filling.note(
            f"usable memory = {(high - _DRIVER_SHARE_BYTES) / GIB:.2f} GiB, 0.45 GiB below the driver's listing"
        )
        return high - _DRIVER_SHARE_BYTES
    if device.memory_sold_gb is None:
        raise InvalidInput.field("accelerator", device.id, "has no known memory", "declare the card's memory in bytes")
    seen = round(device.memory_sold_gb * 1e9 * _SOLD_GB_SEEN)
    filling.note(f"usable memory = {seen / GIB:.2f} GiB, 97 % of {device.memory_sold_gb:g} GB: nobody logged this card")
    return seen


def _engine(name: str) -> str:
    engine = _ENGINE_NAMES.get(name, name)
    if engine not in ENGINES:
        raise InvalidInput.field(
            "engine", name, "is not an engine this model knows", "use one of " + ", ".join(ENGINES)
        )
    return engine


def _version(question: MemoryQuestion, engine: str, filling: _Filling) -> Version | None:
    stated = parse_version(question.engine_version)
    if stated is not None or engine not in _USUAL:
        return stated
    usual = _USUAL[engine]
    if engine == "vllm" and question.shape.compression is not None:
        usual = _FIRST_WITH_COMPRESSION
    elif engine == "vllm" and question.shape.state is not None:
        usual = _USUAL_WITH_STATES
    what = "not read from " + repr(question.engine_version) if question.engine_version else "not stated"
    filling.note(f"engine_version = {usual} ({what})")
    return usual


def _model_dtype(question: MemoryQuestion) -> str:
    for name in (question.weight_precision, question.shape.checkpoint_precision):
        if name in _DTYPES:
            return name
    return "bf16"


def _own_cache(question: MemoryQuestion, dtype: str) -> str:
    """Return the cache type of "auto": the model's, but packed 8-bit rows for sparse and compressed attention."""
    shape = question.shape
    if question.engine == "vllm" and question.weight_precision == "nvfp4":
        # Such checkpoints name an 8-bit cache in their quantization config, and "auto" follows it.
        return "fp8"
    sparse = shape.index_layer_count is not None and shape.index_layer_count > 0
    return _PACKED if sparse and question.engine in {"vllm", "sglang"} else dtype


def _formats(question: MemoryQuestion, filling: _Filling) -> tuple[WeightFormat, CacheFormat, int]:
    precision = question.weight_precision
    if precision is None:
        precision = question.shape.checkpoint_precision or "bf16"
        if question.declared.weights_bytes is None and question.declared.bytes_per_parameter is None:
            filling.note(f"weight_precision = {precision}")
    dtype = _model_dtype(question)
    cache = question.kv_cache_type
    if cache is None or cache == "auto":
        cache = _own_cache(question, dtype)
        filling.note(f"kv_cache_type = {cache} ({'as the model' if cache == dtype else 'the engine takes it here'})")
    return weight_format(precision), cache_format(cache), 4 if dtype == "fp32" else 2


def _max_len(question: MemoryQuestion, filling: _Filling) -> int | None:
    if question.max_model_len is not None:
        return question.max_model_len
    longest = question.shape.max_position_embeddings
    if longest is not None:
        filling.note(f"max_model_len = {longest:,} (the model's own)")
        return longest
    return question.request_tokens


def _chunked(question: MemoryQuestion, version: Version | None, max_len: int | None, filling: _Filling) -> bool:
    if question.chunked_prefill is not None:
        return question.chunked_prefill
    old = version is not None and (version < FIRST_V1 or is_v0(question.engine_version))
    chunked = not old or (max_len is not None and max_len > _V0_CHUNKED_ABOVE)
    filling.note(f"chunked_prefill = {'on' if chunked else 'off'}")
    return chunked


def _large(device: Accelerator, total: int) -> bool:
    return total >= _LARGE_CARD_BYTES and "a100" not in device.id.lower()


def _vllm_sequences(question: MemoryQuestion, version: Version, total: int) -> int:
    new = version >= FIRST_V1 and not is_v0(question.engine_version)
    return 1024 if new and _large(question.device, total) else 256


def _vllm_step(question: MemoryQuestion, version: Version, total: int, *, chunked: bool, max_len: int | None) -> int:
    if not chunked:
        return max(2048, max_len if max_len is not None else 2048)
    if version < FIRST_V1:
        return 2048 if version >= Version(0, 7) else 512
    if version >= _FIRST_LARGE_STEP and total >= _VERY_LARGE_CARD_BYTES:
        return 16_384
    return 8192 if _large(question.device, total) else 2048


def _utilization(
    question: MemoryQuestion, engine: str, version: Version | None, total: int, filling: _Filling
) -> float:
    if question.memory_utilization_ratio is not None:
        return question.memory_utilization_ratio
    if engine == "sglang":
        value = default_fraction(question, total)
        filling.note(f"memory_utilization_ratio = {value:.3g} (room for a prefill step is kept outside)")
        return value
    if engine == "vllm":
        value = 0.92 if version is not None and version >= _FIRST_092 else 0.90
    else:
        value = _UTILIZATION[engine]
    filling.note(f"memory_utilization_ratio = {value:g}")
    return value


def setup(question: MemoryQuestion) -> Setup:
    """Return the question without gaps; raises ``InvalidInput`` naming what cannot be filled."""
    filling = _Filling()
    engine = _engine(question.engine)
    version = _version(question, engine, filling)
    total = device_bytes(question.device, filling)
    weights, cache, element = _formats(question, filling)
    max_len = _max_len(question, filling)
    chunked = _chunked(question, version if engine == "vllm" else None, max_len, filling)
    if engine == "vllm" and version is not None:
        sequences = _vllm_sequences(question, version, total)
        step = _vllm_step(question, version, total, chunked=chunked, max_len=max_len)
    else:
        sequences, step = _SEQUENCES[engine], _STEP[engine] if engine != "sglang" else default_step(total)
        if not chunked:
            step = max(step, max_len if max_len is not None else step)
    return Setup(
        question=question,
        engine=engine,
        version=version,
        total_bytes=total,
        utilization=_utilization(question, engine, version, total, filling),
        max_len=max_len,
        sequences=filling.take("max_num_seqs", question.max_num_seqs, sequences),
        step_tokens=filling.take("max_num_batched_tokens", question.max_num_batched_tokens, step),
        chunked=chunked,
        eager=bool(question.eager),
        block_tokens=question.block_tokens if question.block_tokens is not None else _BLOCK[engine],
        weights=weights,
        cache=cache,
        model_element_bytes=element,
        assumed=tuple(filling.assumed),
    )
