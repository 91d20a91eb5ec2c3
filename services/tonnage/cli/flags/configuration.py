"""Flags that name a configuration: what was, or would be, under test."""

from dataclasses import asdict, dataclass
from typing import Annotated

from typer import Option

from tonnage.cli import values
from tonnage.client import messages

_PANEL = "Configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationFlags:
    """Fields of ``Configuration`` but the model; what is left out is left open."""

    accelerator: Annotated[str, Option(help="Accelerator, for example h100-sxm-80gb.")] = ""
    accelerators_per_replica: Annotated[int | None, Option(help="Accelerators one replica occupies.")] = None
    engine: Annotated[str, Option(help="vllm, sglang, tensorrt-llm, llama.cpp, ...")] = ""
    engine_version: Annotated[str, Option(help="Major and minor, for example 0.19.")] = ""
    weight_precision: Annotated[str, Option(help="bf16, fp8, awq-int4, ...")] = ""
    kv_cache_type: Annotated[str, Option(help="auto, bf16, fp8, ...")] = ""
    tensor_parallel: Annotated[int | None, Option(help="Tensor parallel size.")] = None
    pipeline_parallel: Annotated[int | None, Option(help="Pipeline parallel size.")] = None
    expert_parallel: Annotated[int | None, Option(help="Expert parallel size.")] = None
    data_parallel: Annotated[int | None, Option(help="Data parallel size.")] = None
    speculative_decoding: Annotated[str, Option(help="none, mtp, eagle, ngram, ...")] = ""
    max_model_len: Annotated[int | None, Option(help="Engine limit, tokens.")] = None
    max_num_seqs: Annotated[int | None, Option(help="Engine limit, sequences.")] = None
    max_num_batched_tokens: Annotated[int | None, Option(help="Engine limit, tokens a step.")] = None
    prefix_caching: Annotated[bool | None, Option("--prefix-caching/--no-prefix-caching")] = None
    chunked_prefill: Annotated[bool | None, Option("--chunked-prefill/--no-chunked-prefill")] = None
    serving_mode: Annotated[str, Option(help="aggregated or split.")] = ""
    lora_adapter_count: Annotated[int | None, Option(help="LoRA adapters loaded.")] = None
    model_revision: Annotated[str, Option(help="Commit or tag of the weights.")] = ""
    fingerprint: Annotated[str, Option(help="Fingerprint of a stored configuration, alone.")] = ""

    def message(self, model: str = "") -> messages.Configuration:
        """Return what is stated; ``model`` where the command has a flag of its own for it."""
        return values.made(messages.Configuration, {}, model=model, **asdict(self))
