"""SGLang ``bench_serving --output-file``: one JSON object a line, appended over days; and wrappers around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Run
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED
from tonnage.formats.reading.serving import serving_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

# The clients of these backends speak the server's own protocol; the others speak one that many servers share.
_ENGINES: Final = {"sglang": "sglang", "sglang-native": "sglang", "lmdeploy": "lmdeploy", "trt": "tensorrt-llm"}
_SAMPLE_KEYS: Final = (
    "dataset_name",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
    "sharegpt_output_len",
)


class SglangBenchServing(ToolFormat):
    """Reads the lines of ``bench_serving``; each is one operating point."""

    name = "sglang-bench-serving"
    title = "SGLang bench_serving"
    recognised_by = "JSON lines with backend, completed, output_throughput and no model_id"
    metric_definitions = "sglang-serving-1"
    expects = (("backend", "completed", "output_throughput", "median_e2e_latency_ms", "duration"),)
    definitions = (
        Definition("ttft", "mean_ttft_ms …", "request sent to first streamed chunk"),
        Definition("tpot", "mean_tpot_ms …", "(e2e - ttft) / (output tokens - 1), over requests"),
        Definition("itl", "mean_itl_ms …", "gaps between streamed chunks, over all gaps"),
        Definition("e2e", "mean_e2e_latency_ms …", "request sent to last chunk"),
        Definition("requests_per_s", "request_throughput", "successes / duration; computed for files of 2024"),
        Definition("concurrency", "max_concurrency", "the cap; the key concurrency is an average and is not read"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim results without a model name that SGLang's client writes."""
        result = _result(head.first)
        if "completed" not in result or "output_throughput" not in result or "model_id" in result:
            return None
        if any(key.endswith("_e2e_latency_ms") for key in result):
            return Match(score=90, why="keys completed, output_throughput and …_e2e_latency_ms without model_id")
        return (
            Match(score=60, why="keys completed and output_throughput without model_id")
            if "backend" in result
            else None
        )

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield one run for each group of lines that share backend, sample set and arrival kind."""
        yield from grouped(_point(Fields(value, place), place) for place, value in documents(source))


def _result(value: dict[str, object]) -> dict[str, object]:
    """Return the result inside a wrapper of config and results."""
    inner = value.get("results")
    return inner if isinstance(inner, dict) and "config" in value else value


def _point(line: Fields, place: str) -> Point:
    wrapped = "config" in line and "results" in line
    result = line.fields("results") if wrapped else line
    client, server = line.dig("config.client_args"), line.dig("config.server_args")
    level = serving_level(result, place, sent_count=client.count("num_prompts"))
    header = Run(
        tool=SglangBenchServing.name,
        metric_definitions=SglangBenchServing.metric_definitions,
        levels=(),
        configuration=_configuration(result, client, server),
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
        sample_set=_sample_set(client if wrapped else result),
        findings=() if level.failed_count is not None else (FAILURES_NOT_REPORTED,),
    )
    return Point(header, level)


def _configuration(result: Fields, client: Fields, server: Fields) -> Configuration:
    said = result.fields("server_info")
    return Configuration(
        model=model_name(said.text("model_path") or server.text("model", "model_path") or client.text("model")),
        engine=_ENGINES.get((result.text("backend") or "").lower()),
        engine_version=said.text("version"),
        tensor_parallel=said.count("tp_size") or server.count("tensor_parallel_size", "tp_size", "tp"),
        max_model_len=said.count("context_length") or server.count("max_model_len", "context_length"),
        kv_cache_type=said.text("kv_cache_dtype"),
        weight_precision=said.text("quantization"),
    )


def _sample_set(result: Fields) -> str | None:
    stated = [f"{key}={value}" for key in _SAMPLE_KEYS if (value := result.text(key)) is not None]
    return " ".join(stated) or None


FORMAT: Final = SglangBenchServing()
