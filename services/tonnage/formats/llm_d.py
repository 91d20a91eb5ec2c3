"""llm-d benchmark report 0.1 and 0.2, YAML or JSON: every block names its unit, which is obeyed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Configuration
from tonnage.domain.measurement import NOT_MEASURED, Latency, Level, Run, TextWork
from tonnage.errors import MalformedReport
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, ratio
from tonnage.formats.reading.jsontext import whole_document
from tonnage.formats.reading.names import epoch_s, iso_date, model_name
from tonnage.formats.reading.notes import note, warning
from tonnage.formats.reading.statistics import latency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding

_TO_MS: Final = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
_DURATION: Final = re.compile(r"PT(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?")
_METRICS: Final = {
    "ttft": "time_to_first_token",
    "tpot": "time_per_output_token",
    "itl": "inter_token_latency",
    "e2e": "request_latency",
}
# A served model gives no first token within a millisecond, and no token each tenth of one.
_LEAST_MS: Final = {"ttft": 1.0, "tpot": 0.1}
_RATE_SLACK: Final = 0.05
_SPLIT_ROLES: Final = frozenset({"prefill", "decode"})


class LlmDBenchmark(ToolFormat):
    """Reads a report of one stage, whichever tool it wraps."""

    name = "llm-d-benchmark"
    title = "llm-d benchmark report 0.1, 0.2 (YAML, JSON)"
    recognised_by = "version 0.1 or 0.2 with scenario or run, and metrics or results"
    metric_definitions = "llm-d-benchmark-1"
    expects = (("version", "run", "scenario", "results"), ("version", "scenario", "metrics"))
    definitions = (
        Definition("ttft", "time_to_first_token", "as the wrapped tool measured it, in the unit of the block"),
        Definition("tpot", "time_per_output_token", "as the wrapped tool measured it; the normalized one is not read"),
        Definition("itl", "inter_token_latency", "as the wrapped tool measured it"),
        Definition("e2e", "request_latency", "request sent to last token"),
        Definition("requests_per_s", "request_rate, requests_per_sec", "completed requests"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim reports by version and blocks."""
        first = head.first
        version = str(first.get("version", ""))
        known = version in {"0.1", "0.2"} or version.startswith("0.2.")
        if known and head.keys & {"metrics", "results"} and head.keys & {"scenario", "run"}:
            return Match(score=100, why=f"version {version} with scenario or run")
        return None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield the one level of a report."""
        report = Fields(whole_document(source))
        yield from grouped([_new(report) if "results" in report else _old(report)])


def _new(report: Fields) -> Point:
    run, load = report.dig("run.time"), report.dig("scenario.load.standardized")
    result = report.dig("results.request_performance.aggregate")
    requests, rates = result.fields("requests"), result.fields("throughput")
    sent, failed = requests.count("total"), requests.count("failures")
    latencies, findings = _latencies(result.fields("latency"))
    requests_per_s = _rate(rates, "request_rate", "requests_rate")
    concurrency, offered = load.rate("concurrency"), load.rate("rate_qps")
    level = Level(
        work=_work(requests),
        concurrency=concurrency,
        offered_requests_per_s=None if concurrency is not None else offered,
        requests_per_s=requests_per_s,
        output_tokens_per_s=_rate(rates, "output_token_rate"),
        total_tokens_per_s=_rate(rates, "total_token_rate"),
        reported_requests_per_s=requests_per_s,
        duration_s=_duration_s(run),
        completed_count=_completed(requests, sent, failed),
        failed_count=failed,
        ttft=latencies.get("ttft", NOT_MEASURED),
        tpot=latencies.get("tpot", NOT_MEASURED),
        itl=latencies.get("itl", NOT_MEASURED),
        e2e=latencies.get("e2e", NOT_MEASURED),
        location=_stage(load.text("stage")),
        findings=findings,
    )
    stacks = [item.fields("standardized") for item in report.fields("scenario").items("stack")]
    configuration, replicas = _stack(stacks)
    return Point(_header(load, level, configuration, replicas), level, iso_date(run.raw("start")))


def _old(report: Fields) -> Point:
    metrics = report.fields("metrics")
    requests, time = metrics.fields("requests"), metrics.fields("time")
    nested = "latency" in metrics
    latencies, findings = _latencies(metrics.fields("latency") if nested else metrics)
    sent, failed = requests.count("total"), requests.count("failures")
    duration_s, completed = time.number("duration"), _completed(requests, sent, failed)
    rates = metrics.fields("throughput") if nested else metrics
    reported = _rate(rates, "requests_per_sec", "request_rate")
    counted = ratio(sent, duration_s)
    agrees = counted is None or reported is None or abs(counted - reported) <= _RATE_SLACK * max(counted, reported)
    level = Level(
        work=_work(requests),
        requests_per_s=reported if agrees else None,
        output_tokens_per_s=_rate(rates, "output_tokens_per_sec", "output_token_rate"),
        total_tokens_per_s=_rate(rates, "total_tokens_per_sec", "total_token_rate"),
        reported_requests_per_s=reported,
        duration_s=duration_s,
        completed_count=completed,
        failed_count=failed,
        ttft=latencies.get("ttft", NOT_MEASURED),
        tpot=latencies.get("tpot", NOT_MEASURED),
        itl=latencies.get("itl", NOT_MEASURED),
        e2e=latencies.get("e2e", NOT_MEASURED),
        location=_stage(report.fields("run").text("stage")),
        findings=(*findings, *(() if agrees else (_unlike(counted, reported),))),
    )
    configuration = _old_configuration(report)
    return Point(_header(report.dig("scenario.load"), level, configuration, None), level, epoch_s(time.number("start")))


def _stage(stage: str | None) -> str:
    return "" if stage is None else f"stage {stage}"


def _unlike(counted: float | None, reported: float | None) -> Finding:
    return warning(
        "RATE_MISMATCH",
        f"requests / duration = {counted:g}/s, the report says {reported:g}/s; neither is taken",
        path="requests_per_s",
        remedy="send the wrapped tool's own file",
    )


def _work(requests: Fields) -> TextWork:
    return TextWork(
        input_tokens_mean=requests.fields("input_length").number("mean"),
        output_tokens_mean=requests.fields("output_length").number("mean"),
    )


def _completed(requests: Fields, sent: int | None, failed: int | None) -> int | None:
    """Return the requests that succeeded, or None when some were incomplete and it is unclear whether they count."""
    if sent is None or failed is None or requests.count("incomplete"):
        return None
    return sent - failed


def _rate(rates: Fields, *names: str) -> float | None:
    """Return a rate, plain or as a block with a mean."""
    for name in names:
        value = rates.raw(name)
        if isinstance(value, dict):
            return rates.fields(name).number("mean")
        if value is not None:
            return rates.number(name)
    return None


def _latencies(blocks: Fields) -> tuple[dict[str, Latency], tuple[Finding, ...]]:
    """Return the latencies in the units their blocks state, or none where the units cannot be meant."""
    found: dict[str, Latency] = {}
    findings: list[Finding] = []
    for metric, name in _METRICS.items():
        block = blocks.fields(name)
        if not block.data:
            continue
        units = block.text("units", "unit")
        if units is None:
            findings.append(_no_unit(metric, name))
            continue
        found[metric] = _in_ms(block, units)
    small = [
        metric
        for metric, least in _LEAST_MS.items()
        if metric in found and 0 < (found[metric].mean_ms or least) < least
    ]
    if small:
        return {}, (*findings, _too_small(small, found))
    return found, tuple(findings)


def _in_ms(block: Fields, units: str) -> Latency:
    to_ms = _TO_MS.get(units.lower().removesuffix("/token"))
    if to_ms is None:
        raise MalformedReport.field(f"{block.path}.units", units, "is no unit of time", "write s, ms, us or ns")
    return latency(block.number, to_ms)


def _no_unit(metric: str, name: str) -> Finding:
    return note(
        "UNIT_NOT_STATED",
        f"{name} states no unit and was left out, since guessing one could be wrong by a thousand",
        path=metric,
        remedy="add units to the block",
    )


def _too_small(small: list[str], found: dict[str, Latency]) -> Finding:
    shown = ", ".join(f"{metric} mean {found[metric].mean_ms:g} ms" for metric in small)
    return warning(
        "UNIT_IMPLAUSIBLE",
        f"{shown}: too small for a served model, so the file's units are wrong; its latencies were left out",
        remedy="correct the units, or send the wrapped tool's own file",
    )


def _duration_s(time: Fields) -> float | None:
    """Return an ISO 8601 duration ("PT49.97S") or plain seconds."""
    text = time.text("duration")
    if text is None or not text.startswith("PT"):
        return time.number("duration")
    found = _DURATION.fullmatch(text)
    if found is None:
        raise MalformedReport.field(f"{time.path}.duration", text, "is no ISO 8601 duration", "write PT49.97S")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def _stack(stacks: list[Fields]) -> tuple[Configuration, int | None]:
    """Return what is served and how many replicas: prefill and decode apart are one replica."""
    engines = [item for item in stacks if item.text("kind") in {None, "inference_engine"}]
    if not engines:
        return Configuration(), None
    is_split = {item.text("role") for item in engines} >= _SPLIT_ROLES
    counts = [(item.count("replicas") or 1, item.fields("accelerator").count("count")) for item in engines]
    parallel = engines[0].dig("accelerator.parallelism")
    whole = None if any(count is None for _, count in counts) else sum(n * (count or 0) for n, count in counts)
    alone = len(engines) == 1
    configuration = Configuration(
        model=model_name(engines[0].fields("model").text("name")),
        weight_precision=engines[0].fields("model").text("quantization"),
        engine=None if engines[0].text("tool") == "llm-d" else engines[0].text("tool"),
        accelerator=engines[0].fields("accelerator").text("model"),
        accelerators_per_replica=whole if is_split else (counts[0][1] if alone else None),
        serving_mode="split" if is_split else None,
    )
    if alone:
        configuration = replace(
            configuration,
            tensor_parallel=parallel.count("tp"),
            pipeline_parallel=parallel.count("pp"),
            expert_parallel=parallel.count("ep"),
            data_parallel=parallel.count("dp"),
        )
    return configuration, 1 if is_split else (counts[0][0] if alone else None)


def _old_configuration(report: Fields) -> Configuration:
    scenario, run = report.fields("scenario"), report.fields("run")
    accelerators = list(scenario.fields("host").items("accelerator"))
    engines = list(scenario.fields("platform").items("engine"))
    roles = scenario.fields("host").raw("type")
    is_split = isinstance(roles, list) and set(map(str, roles)) >= _SPLIT_ROLES
    counts = [item.count("count") for item in accelerators]
    known = [count for count in counts if count is not None]
    return Configuration(
        model=model_name(scenario.fields("model").text("name") or run.text("model")),
        weight_precision=scenario.fields("model").text("quantization"),
        engine=engines[0].text("name") if engines else None,
        engine_version=engines[0].text("version") if engines else None,
        accelerator=accelerators[0].text("model") if accelerators else run.text("accelerator"),
        accelerators_per_replica=sum(known) if is_split and len(known) == len(counts) else None,
        serving_mode="split" if is_split else None,
    )


def _header(load: Fields, level: Level, configuration: Configuration, replicas: int | None) -> Run:
    wrapped = load.text("tool", "name")
    return Run(
        tool=LlmDBenchmark.name,
        metric_definitions=LlmDBenchmark.metric_definitions if wrapped is None else f"llm-d-benchmark-1/{wrapped}",
        levels=(),
        tool_version=load.text("tool_version"),
        configuration=configuration,
        replicas_under_test=replicas,
        arrival_kind=arrival_of(level.concurrency, level.offered_requests_per_s),
    )


FORMAT: Final = LlmDBenchmark()
