"""InferenceX (InferenceMAX) rows: fixed-length and agentic, figures per accelerator, seconds without a suffix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.domain.measurement import Latency, Level, Run, TextWork
from tonnage.formats.base import Definition, Head, Match, Source, ToolFormat
from tonnage.formats.reading.assemble import Point, arrival_of, grouped
from tonnage.formats.reading.fields import Fields, product, ratio
from tonnage.formats.reading.jsontext import documents
from tonnage.formats.reading.names import model_name
from tonnage.formats.reading.notes import FAILURES_NOT_REPORTED, note
from tonnage.formats.reading.statistics import latency
from tonnage.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.domain.finding import Finding


class InferenceX(ToolFormat):
    """Reads aggregated rows; the raw results beside them are vLLM's."""

    name = "inferencex"
    title = "InferenceX / InferenceMAX aggregated rows"
    recognised_by = "hw and tput_per_gpu"
    metric_definitions = "inferencex-1"
    expects = (("hw", "tput_per_gpu", "framework", "precision", "conc"),)
    definitions = (
        Definition("ttft", "mean_ttft …", "request sent to first chunk; seconds in the file"),
        Definition("tpot", "mean_tpot …", "(e2e - ttft) / (output tokens - 1); intvty is 1 / tpot and not read"),
        Definition("itl", "mean_itl …", "gaps between chunks, which hold several tokens when tokens are predicted"),
        Definition("e2e", "mean_e2el …, mean_ttlt …", "request sent to last chunk"),
        Definition("total_tokens_per_s", "tput_per_gpu x accelerators", "input and output together"),
        Definition("output_tokens_per_s", "output_tput_per_gpu x accelerators", "output alone"),
    )

    def recognises(self, head: Head) -> Match | None:
        """Claim rows with hardware and throughput per accelerator."""
        return Match(score=100, why="keys hw and tput_per_gpu") if {"hw", "tput_per_gpu"} <= head.keys else None

    def read(self, source: Source) -> Iterator[Run | Finding]:
        """Yield runs of the rows that share a configuration."""
        yield from grouped(_point(Fields(value, place), place) for place, value in documents(source))


def _point(row: Fields, place: str) -> Point:
    accelerators = _accelerator_count(row)
    duration_s, completed = row.number("duration_seconds"), row.count("num_requests_successful")
    concurrency = row.rate("conc", "users")
    level = Level(
        work=TextWork(
            input_tokens_mean=row.number("mean_input_tokens"),
            output_tokens_mean=row.number("mean_output_tokens_actual"),
        ),
        concurrency=concurrency,
        requests_per_s=ratio(completed, duration_s),
        output_tokens_per_s=_rate(row, "output_tput_tps", "output_tput_per_gpu", accelerators),
        total_tokens_per_s=_rate(row, "total_tput_tps", "tput_per_gpu", accelerators),
        reported_requests_per_s=row.number("mean_qps"),
        duration_s=duration_s,
        completed_count=completed,
        ttft=_latency(row, "ttft"),
        tpot=_latency(row, "tpot"),
        itl=_latency(row, "itl"),
        e2e=_latency(row, "ttlt" if "mean_ttlt" in row else "e2el"),
        location=place,
        findings=tuple(_targets(row)),
    )
    return Point(_header(row, accelerators, concurrency), level)


def _header(row: Fields, accelerators: int | None, concurrency: float | None) -> Run:
    is_split = row.raw("disagg") in (True, "true")
    return Run(
        tool=InferenceX.name,
        metric_definitions=InferenceX.metric_definitions,
        levels=(),
        configuration=Configuration(
            model=model_name(row.text("model")),
            engine=row.text("framework"),
            accelerator=row.text("hw"),
            weight_precision=row.text("precision"),
            speculative_decoding=row.text("spec_decoding"),
            accelerators_per_replica=accelerators,
            tensor_parallel=None if is_split else row.count("tp"),
            expert_parallel=None if is_split else row.count("ep"),
            serving_mode="split" if is_split else None,
        ),
        conditions=Conditions(image=row.text("image")),
        replicas_under_test=1,
        arrival_kind=arrival_of(concurrency, None),
        sample_set=_sample_set(row),
        findings=(FAILURES_NOT_REPORTED,),
    )


def _accelerator_count(row: Fields) -> int | None:
    """Return the accelerators of the one system under test: TP, or the prefill and decode parts together."""
    prefill, decode = row.count("num_prefill_gpu"), row.count("num_decode_gpu")
    if prefill is not None and decode is not None:
        return prefill + decode
    return row.count("tp")


def _rate(row: Fields, whole: str, per_accelerator: str, accelerators: int | None) -> float | None:
    stated = row.number(whole)
    return stated if stated is not None else product(row.number(per_accelerator), accelerators)


def _latency(row: Fields, name: str) -> Latency:
    def pick(statistic: str) -> float | None:
        return row.number(f"median_{name}" if statistic == "p50" else f"{statistic}_{name}")

    return latency(pick, MS_PER_S)


def _sample_set(row: Fields) -> str | None:
    lengths = [f"{key}={row.text(key)}" for key in ("scenario_type", "isl", "osl") if key in row]
    return " ".join(lengths) or None


def _targets(row: Fields) -> Iterator[Finding]:
    if "mean_input_tokens" not in row and "isl" in row:
        message = f"{row.text('isl')} input and {row.text('osl')} output tokens are targets; what ran was shorter"
        remedy = "read the raw result beside the row, or give input_tokens_mean and output_tokens_mean"
        yield note("LENGTHS_NOT_MEASURED", message, path="work", remedy=remedy)
    total, good = row.count("num_requests_total"), row.count("num_requests_successful")
    if total is not None and good is not None and total > good:
        message = f"{total - good} of {total} requests failed or were cut off at the end; the row does not say which"
        yield note("REQUESTS_CUT_OFF", message, path="failed_count")


FORMAT: Final = InferenceX()
