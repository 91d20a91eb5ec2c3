"""vLLM ``bench serve`` (earlier ``benchmark_serving.py``) and its sweeps: JSON object, JSON lines, array, CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import model_name, short_date
from tonnage.formats.reading.notes import TIME_ZONE_NOT_STATED
from tonnage.formats.reading.serving import serving_level
from tonnage.formats.reading.tables import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

# Clients of these servers speak the server's own protocol; "vllm" and "openai" speak one that many servers share.
_ENGINES: Final = {"tgi": "tgi", "tensorrt-llm": "tensorrt-llm", "lmdeploy": "lmdeploy", "sglang": "sglang"}
_LATENCY_ENDINGS: Final = ("_ttft_ms", "_ttft", "_e2el_ms")


class VllmServe(ToolFormat):
    """Reads the results of ``vllm bench serve`` and ``vllm bench sweep serve``."""

    name = "vllm-bench-serve"
    title = "vLLM bench serve, bench sweep serve, benchmark_serving.py"
    recognised_by = "JSON with model_id, completed and output_throughput; a sweep's array or CSV with run_number"
    metric_definitions = "vllm-serve-1"
    expects = (("model_id", "completed", "output_throughput", "request_throughput", "duration", "total_output_tokens"),)
    definitions = (
        Definition(
            "ttft", "mean_ttft_ms …", "request sent to first streamed chunk; client-side wait for the cap left out"
        ),
        Definition(
            "tpot", "mean_tpot_ms …", "(e2e - ttft) / (output tokens - 1), over requests with more than one token"
        ),
        Definition("itl", "mean_itl_ms …", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "mean_e2el_ms …", "request sent to last chunk; written only when asked for"),
        Definition("requests_per_s", "request_throughput", "successes / duration"),
        Definition("output_tokens_per_s", "output_throughput", "output tokens of successes / duration"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim results that name a model and count completed requests."""
        if head.kind == "table":
            columns = frozenset(head.columns)
            if {"model_id", "completed", "output_throughput"} <= columns:
                return Match(score=90, why="CSV columns model_id, completed, output_throughput")
            return None
        keys = head.keys
        if "model_id" not in keys or "completed" not in keys:
            return None
        if keys & {"output_throughput", "request_throughput"} or any(key.endswith(_LATENCY_ENDINGS) for key in keys):
            return Match(score=90, why="keys model_id, completed and throughput or latency")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one run for each group of levels of one configuration; repeats apart."""
        found: Iterator[tuple[str, object]] = rows(source) if source.head.kind == "table" else documents(source)
        yield from grouped(_point(Fields(value, place), place) for place, value in found)


def _point(result: Fields, place: str) -> Point:
    level = serving_level(result, place, sent_count=result.count("num_prompts"))
    measured_at = short_date(result.text("date"))
    header = Run(
        tool=VllmServe.name,
        metric_definitions=VllmServe.metric_definitions,
        levels=(),
        configuration=_configuration(result),
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        findings=() if measured_at is None else (TIME_ZONE_NOT_STATED,),
    )
    return Point(header, level, measured_at)


def _configuration(result: Fields) -> Configuration:
    """Return what the file says of the server: users add ``--metadata`` and sweeps their parameters."""
    accelerator = result.text("gpu", "gpu_name", "gpu_type", "accelerator", "hardware")
    return Configuration(
        model=model_name(result.text("model_id")),
        engine=_ENGINES.get((result.text("backend") or "").lower()),
        engine_version=result.text("vllm_version", "engine_version"),
        weight_precision=result.text("precision", "quantization", "dtype"),
        accelerator=accelerator,
        tensor_parallel=result.count("tp", "tp_size", "tensor_parallel_size"),
        pipeline_parallel=result.count("pp", "pp_size", "pipeline_parallel_size"),
        max_model_len=result.count("max_model_len"),
        max_num_seqs=result.count("max_num_seqs"),
        max_num_batched_tokens=result.count("max_num_batched_tokens"),
    )


FORMAT: Final = VllmServe()
