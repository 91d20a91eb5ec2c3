"""TensorRT-LLM ``trtllm-bench``: the console's report, and the JSON of ``--report_json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, grouped
from tonnage.formats.reading.fields import Fields, as_text, scaled
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED
from tonnage.formats.reading.statistics import latency
from tonnage.formats.reading.text import first_number, labels, last_block, plain_lines
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.domain.finding import Finding

_BANNER: Final = "PERFORMANCE OVERVIEW"
_KEYS: Final = {"mean": ("average", "avg"), "p50": ("p50",), "p90": ("p90",), "p95": ("p95",), "p99": ("p99",)}


class TrtLlmBench(ToolFormat):
    """Reads the throughput report; offered load is all requests at once, so none is stated."""

    name = "trtllm-bench"
    title = "TensorRT-LLM trtllm-bench (console text, --report_json)"
    recognised_by = "= PERFORMANCE OVERVIEW in text; request_info, performance and world_info in JSON"
    metric_definitions = "trtllm-bench-1"
    expects = (("engine", "world_info", "request_info", "performance"),)
    definitions = (
        Definition("ttft", "[TTFT]", "request sent to first token; only with --streaming"),
        Definition("tpot", "[TPOT]", "(e2e - ttft) / (output tokens - 1) of each request; only with --streaming"),
        Definition("itl", "", "not written"),
        Definition("e2e", "[Latency]", "request sent to last token"),
        Definition(
            "output_tokens_per_s", "Total Output Throughput", "all accelerators; 0.17 calls it Token Throughput"
        ),
        Definition("concurrency", "", "not written: the number of concurrent requests printed is an average"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim the console's banner or the JSON's three blocks."""
        if {"request_info", "performance", "world_info"} <= head.keys:
            return Match(score=100, why="keys request_info, performance, world_info")
        if head.kind in {"text", "table", "yaml"} and f"= {_BANNER}" in head.text:
            return Match(score=100, why=f"banner {_BANNER}")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a report; of several in one log, the last."""
        yield from grouped([_of_json(source) if source.head.kind == "json-object" else _of_text(source)])


def _of_text(source: Source) -> Point:
    lines = plain_lines(source)
    said = labels(lines)
    result = labels(last_block(lines, _BANNER))
    numbers = Fields({key: first_number(value) for key, value in {**said, **result}.items()})
    level = Level(
        work=TextWork(
            input_tokens_mean=numbers.number("Average Input Length (tokens)"),
            output_tokens_mean=numbers.number("Average Output Length (tokens)"),
        ),
        requests_per_s=numbers.number("Request Throughput (req/sec)"),
        output_tokens_per_s=numbers.number("Total Output Throughput (tokens/sec)", "Token Throughput (tokens/sec)"),
        total_tokens_per_s=numbers.number("Total Token Throughput (tokens/sec)"),
        reported_requests_per_s=numbers.number("Request Throughput (req/sec)"),
        duration_s=scaled(numbers.number("Total Latency (ms)"), 1 / MS_PER_S),
        completed_count=numbers.count("Number of requests"),
        ttft=_text_latency(numbers, "TTFT", "Average time-to-first-token [TTFT] (ms)"),
        tpot=_text_latency(numbers, "TPOT", "Average time-per-output-token [TPOT] (ms)"),
        e2e=_text_latency(numbers, "Latency", "Average request latency (ms)"),
    )
    configuration = Configuration(
        model=model_name(as_text(said.get("Model"))),
        engine="tensorrt-llm",
        engine_version=as_text(said.get("TensorRT-LLM Version")),
        weight_precision=as_text(said.get("Quantization")) or as_text(said.get("Dtype")),
        kv_cache_type=as_text(said.get("KV Cache Dtype")),
        tensor_parallel=numbers.count("TP Size"),
        pipeline_parallel=numbers.count("PP Size"),
        expert_parallel=numbers.count("EP Size"),
    )
    return Point(_header(configuration), level)


def _text_latency(numbers: Fields, name: str, mean_label: str) -> Latency:
    def pick(statistic: str) -> float | None:
        if statistic == "mean":
            return numbers.number(f"[{name}] AVERAGE", mean_label)
        return numbers.number(f"[{name}] {statistic.upper()}")

    return latency(pick)


def _of_json(source: Source) -> Point:
    report = Fields(whole_document(source))
    engine, world, given = report.fields("engine"), report.fields("world_info"), report.fields("request_info")
    result, streamed = report.fields("performance"), report.fields("streaming_metrics")
    level = Level(
        work=TextWork(
            input_tokens_mean=given.number("avg_input_length"),
            output_tokens_mean=given.number("avg_output_length"),
        ),
        requests_per_s=result.number("request_throughput_req_s"),
        output_tokens_per_s=result.number("system_output_throughput_tok_s"),
        total_tokens_per_s=result.number("system_total_throughput_tok_s"),
        reported_requests_per_s=result.number("request_throughput_req_s"),
        duration_s=scaled(result.number("total_latency_ms"), 1 / MS_PER_S),
        completed_count=given.count("num_requests"),
        ttft=_json_latency(streamed.fields("ttft_percentiles"), lambda: streamed.number("avg_ttft_ms")),
        tpot=_json_latency(streamed.fields("tpot_percentiles"), lambda: streamed.number("avg_tpot_ms")),
        e2e=_json_latency(
            result.fields("request_latency_percentiles_ms"), lambda: result.number("avg_request_latency_ms")
        ),
    )
    configuration = Configuration(
        model=model_name(engine.text("model")),
        engine="tensorrt-llm",
        engine_version=engine.text("version"),
        weight_precision=engine.text("quantization", "dtype"),
        kv_cache_type=engine.text("kv_cache_dtype"),
        accelerator=report.fields("machine").text("name"),
        accelerators_per_replica=world.count("world_size"),
        tensor_parallel=world.count("tp_size"),
        pipeline_parallel=world.count("pp_size"),
        expert_parallel=world.count("ep_size"),
        max_num_seqs=world.count("max_batch_size"),
        max_num_batched_tokens=world.count("max_num_tokens"),
    )
    return Point(_header(configuration), level)


def _json_latency(percentiles: Fields, mean: Callable[[], float | None]) -> Latency:
    def pick(statistic: str) -> float | None:
        found = percentiles.number(*_KEYS[statistic])
        return mean() if statistic == "mean" and found is None else found

    return latency(pick)


def _header(configuration: Configuration) -> Run:
    return Run(
        tool=TrtLlmBench.name,
        metric_definitions=TrtLlmBench.metric_definitions,
        levels=(),
        configuration=configuration,
        findings=(FAILURES_NOT_REPORTED,),
    )


FORMAT: Final = TrtLlmBench()
