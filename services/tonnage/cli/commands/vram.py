"""``tonnage vram``: does a model fit, and how many requests at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from tonnage.cli import documents, kit, requests, values
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning
from tonnage.cli.render.memory import fit as parts_of
from tonnage.cli.render.memory import memory_map as map_of
from tonnage.client import messages
from tonnage.client.errors import BadInput

_BYTES = "14.99GiB"
_OTHERS = "--others-memory"
_LARGEST_HEAD_BYTES = 15 << 20
"""Below what one message to the server may hold."""
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFlags:
    """What is to fit where."""

    file: Annotated[
        str, Option("--file", "-f", help="Question in YAML or JSON, by the names of docs/api.md; - is stdin.")
    ] = ""
    model: Annotated[str, Option(help="Catalog model; see `tonnage models`.")] = ""
    config: Annotated[Path | None, Option(help="A config.json, for a model not in the catalog.")] = None
    checkpoint: Annotated[
        list[Path] | None,
        Option(
            "--checkpoint",
            "--index",
            "--safetensors",
            "--gguf",
            help="A safetensors index, safetensors file or GGUF file, for exact bytes; repeated for every file.",
        ),
    ] = None
    engine: Annotated[str, Option(help="vllm, sglang, tensorrt-llm, llama.cpp or generic.")] = ""
    engine_version: Annotated[str, Option(help="For example 0.19.")] = ""
    accelerator: Annotated[str, Option(help="Catalog accelerator; see `tonnage gpus`.")] = ""
    device_name: Annotated[str, Option(help="Name of a card not in the catalog.")] = ""
    device_memory: Annotated[str | None, Option(metavar=_BYTES, help="What its driver reports.")] = None
    accelerators: Annotated[int | None, Option(help="Accelerators of the server.")] = None
    tensor_parallel: Annotated[int | None, Option(help="Tensor parallel size; 1 when left out.")] = None
    pipeline_parallel: Annotated[int | None, Option(help="Pipeline parallel size.")] = None
    expert_parallel: Annotated[int | None, Option(help="Expert parallel size.")] = None
    data_parallel: Annotated[int | None, Option(help="Data parallel size.")] = None
    weight_precision: Annotated[str, Option(help="bf16, fp8, awq-int4, ...; the checkpoint's when left out.")] = ""
    kv_cache_type: Annotated[str, Option(help="bf16, fp8, ...; follows the model when left out.")] = ""
    memory_utilization: Annotated[float | None, Option(help="Share of the card the engine may use.")] = None
    max_model_len: Annotated[int | None, Option(help="Tokens; the model's own when left out.")] = None
    max_num_seqs: Annotated[int | None, Option(help="Sequences at once.")] = None
    max_num_batched_tokens: Annotated[int | None, Option(help="Tokens a step.")] = None
    chunked_prefill: Annotated[bool | None, Option("--chunked-prefill/--no-chunked-prefill")] = None
    eager: Annotated[bool | None, Option("--eager/--graphs", help="Without, or with, graphs.")] = None
    block_tokens: Annotated[int | None, Option(help="Tokens a cache block.")] = None
    request_tokens: Annotated[int | None, Option(help="Tokens of one request, prompt and answer.")] = None
    concurrency: Annotated[int | None, Option(help="Requests wanted at once; 1 when left out.")] = None
    draft_tokens: Annotated[int | None, Option(help="Tokens a draft proposes per step; no draft when left out.")] = None
    draft_weights: Annotated[str | None, Option(metavar=_BYTES, help="Weights of the draft on one accelerator.")] = None
    lora_slots: Annotated[int | None, Option(help="Adapters kept at once; with --lora-rank.")] = None
    lora_rank: Annotated[int | None, Option(help="Largest rank of an adapter.")] = None
    language_only: Annotated[
        bool | None, Option("--language-only/--with-towers", help="Without, or with, image and audio inputs.")
    ] = None
    others_memory: Annotated[
        str | None, Option(metavar=_BYTES, help="What other processes hold on the accelerator.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredFlags:
    """Terms the caller knows better, on one accelerator; 14.99GiB, 800MiB or bare bytes."""

    weights: Annotated[str | None, Option(metavar=_BYTES, help="Weights on one accelerator.")] = None
    activation: Annotated[str | None, Option(metavar=_BYTES, help="Peak of the profiling run, without weights.")] = None
    peak_with_weights: Annotated[
        str | None, Option(metavar=_BYTES, help="Peak as logged with the weights in it; excludes the two above.")
    ] = None
    runtime: Annotated[str | None, Option(metavar=_BYTES, help="Context, collectives, workspaces.")] = None
    graphs_memory: Annotated[str | None, Option(metavar=_BYTES, help="Graphs captured outside the budget.")] = None
    kv_pool: Annotated[str | None, Option(metavar=_BYTES, help="The cache pool itself.")] = None
    reserved: Annotated[str | None, Option(metavar=_BYTES, help="Kept free on the card.")] = None
    bytes_per_parameter: Annotated[float | None, Option(help="Bytes a parameter of the whole model.")] = None

    def message(self) -> messages.DeclaredMemory:
        """Return what is declared."""
        return values.made(
            messages.DeclaredMemory,
            {},
            weights_bytes=values.byte_count("--weights", self.weights),
            activation_bytes=values.byte_count("--activation", self.activation),
            peak_with_weights_bytes=values.byte_count("--peak-with-weights", self.peak_with_weights),
            runtime_bytes=values.byte_count("--runtime", self.runtime),
            graph_bytes=values.byte_count("--graphs-memory", self.graphs_memory),
            kv_pool_bytes=values.byte_count("--kv-pool", self.kv_pool),
            reserved_bytes=values.byte_count("--reserved", self.reserved),
            bytes_per_parameter=self.bytes_per_parameter,
        )


app = kit.new_app()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFlags:
    """The map of lengths and concurrencies beside the answer."""

    map_lengths: Annotated[
        list[int] | None, Option(help="Tokens of one request to try; repeated, with --map-concurrencies.")
    ] = None
    map_concurrencies: Annotated[
        list[int] | None, Option(help="Requests at once to try; repeated, with --map-lengths.")
    ] = None

    def message(self) -> messages.MemoryMapAxes | None:
        """Return the axes; None when no map is asked for."""
        if self.map_lengths is None and self.map_concurrencies is None:
            return None
        if not self.map_lengths or not self.map_concurrencies:
            absent = "--map-concurrencies" if self.map_lengths else "--map-lengths"
            raise BadInput.field(absent, "is required for a map and absent; give both axes")
        try:
            return messages.MemoryMapAxes(request_tokens=self.map_lengths, concurrencies=self.map_concurrencies)
        except ValueError as error:
            raise BadInput.field("--map-lengths", f"the axes hold a number out of range; {error}") from error


@kit.command(app)
def vram(flags: QuestionFlags, declared: DeclaredFlags, grid: MapFlags, asking: Planning) -> int:
    """Say whether a model fits, how many requests, what binds.

    Ends with 1 when it does not fit.
    """
    request = messages.FitVramRequest()
    if flags.file:
        request = documents.read_message("--file", flags.file, messages.FitVramRequest, inner="question")
    requests.overlay(request.question, question_of(flags, declared), frozenset({"parallelism", "declared"}))
    axes = grid.message()
    if axes is not None:
        request.map.CopyFrom(axes)
    with asking.client() as client:
        answer = client.fit_vram(request)
    kit.show(answer, as_json=asking.as_json, parts=lambda: [*parts_of(answer.fit), *map_of(answer.map)])
    return Exit.NO if answer.fit.verdict == messages.FIT_VERDICT_DOES_NOT_FIT else Exit.OK


def question_of(flags: QuestionFlags, declared: DeclaredFlags) -> messages.MemoryQuestion:
    """Return the question the flags state."""
    values.only_one([("--model", bool(flags.model)), ("--config", flags.config is not None)])
    values.only_one([("--accelerator", bool(flags.accelerator)), ("--device-memory", flags.device_memory is not None)])
    plain = (
        "model", "engine", "engine_version", "accelerator", "weight_precision", "kv_cache_type", "max_model_len",
        "max_num_seqs", "max_num_batched_tokens", "chunked_prefill", "eager", "block_tokens", "request_tokens",
        "concurrency", "lora_rank", "language_only",
    )  # fmt: skip
    question = values.made(
        messages.MemoryQuestion,
        {
            "accelerator_count": "--accelerators",
            "draft_token_count": "--draft-tokens",
            "draft_weights_bytes": "--draft-weights",
            "foreign_bytes": _OTHERS,
            "lora_slot_count": "--lora-slots",
        },
        **{name: getattr(flags, name) for name in plain},
        config_json=config_bytes(flags.config),
        declared_device=_device(flags),
        accelerator_count=flags.accelerators,
        parallelism=requests.stated(_parallelism(flags)),
        memory_utilization_ratio=flags.memory_utilization,
        declared=requests.stated(declared.message()),
        draft_token_count=flags.draft_tokens,
        draft_weights_bytes=values.byte_count("--draft-weights", flags.draft_weights),
        lora_slot_count=flags.lora_slots,
        foreign_bytes=values.byte_count(_OTHERS, flags.others_memory),
    )
    question.checkpoint_headers.extend(checkpoint_head(path) for path in flags.checkpoint or [])
    return question


def _parallelism(flags: QuestionFlags) -> messages.Parallelism:
    names = ("tensor", "pipeline", "expert", "data")
    flags_of = {name: f"--{name}-parallel" for name in names}
    return values.made(messages.Parallelism, flags_of, **{name: getattr(flags, f"{name}_parallel") for name in names})


def _device(flags: QuestionFlags) -> messages.DeclaredDevice | None:
    device = values.made(
        messages.DeclaredDevice,
        {"total_bytes": "--device-memory"},
        name=flags.device_name,
        total_bytes=values.byte_count("--device-memory", flags.device_memory),
    )
    return device if device.ListFields() else None


def config_bytes(path: Path | None) -> bytes | None:
    """Return a config.json's bytes, for the server to read."""
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput.field("--config", f"{path} cannot be read: {error.strerror}; give a config.json") from error


def checkpoint_head(path: Path) -> bytes:
    """Return what the server reads of a checkpoint's file: an index whole, else the header before the tensors.

    A safetensors file says how long its header is; a GGUF file does not, so as much is sent as a message holds.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_LENGTH_BYTES)
            if start[:1] == b"{" or start[:4] == b"GGUF":
                return start + file.read(_LARGEST_HEAD_BYTES - len(start))
            length = int.from_bytes(start, "little")
            if length > _LARGEST_HEAD_BYTES - _LENGTH_BYTES:
                problem = f"{path} is no index, safetensors or GGUF file, or its header is above 15 MiB"
                raise BadInput.field("--checkpoint", f"{problem}; give the index")
            return start + file.read(length)
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}"
        raise BadInput.field("--checkpoint", f"{problem}; give a checkpoint's file") from error
