"""One module a load tool; this list is the one place that names them all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tonnage.domain.measurement import Run
from tonnage.errors import InvalidInput, MalformedReport
from tonnage.formats import (
    ab,
    aibrix,
    aiperf,
    artillery,
    autocannon,
    evalscope,
    fortio,
    gatling,
    genai_perf,
    gke_inference_benchmark,
    guidellm,
    hey,
    hf_inference_benchmarker,
    inference_perf,
    inferencex,
    jmeter,
    k6,
    llama_bench,
    llama_benchy,
    llm_d,
    llm_inference_bench,
    llmperf,
    lmbenchmark,
    locust,
    mlperf,
    oha,
    ollama,
    optimum_benchmark,
    perf_analyzer,
    serving_console,
    sglang,
    sniffing,
    tonnage_table,
    trtllm_bench,
    vegeta,
    vllm_serve,
    vllm_tables,
    wrk,
)
from tonnage.formats.lint import lint_run
from tonnage.formats.reading.opening import MAX_DECOMPRESSED_BYTES, open_source

if TYPE_CHECKING:
    from tonnage.domain.finding import Finding
    from tonnage.formats.base import Format, Source

FORMATS: Final[tuple[Format, ...]] = (
    tonnage_table.FORMAT,
    vllm_serve.FORMAT,
    vllm_tables.FORMAT,
    serving_console.FORMAT,
    sglang.FORMAT,
    guidellm.FORMAT,
    aiperf.FORMAT,
    genai_perf.FORMAT,
    inference_perf.FORMAT,
    llm_d.FORMAT,
    llmperf.FORMAT,
    trtllm_bench.FORMAT,
    mlperf.FORMAT,
    perf_analyzer.FORMAT,
    inferencex.FORMAT,
    gke_inference_benchmark.FORMAT,
    evalscope.FORMAT,
    lmbenchmark.FORMAT,
    aibrix.FORMAT,
    llama_bench.FORMAT,
    llama_benchy.FORMAT,
    optimum_benchmark.FORMAT,
    llm_inference_bench.FORMAT,
    hf_inference_benchmarker.FORMAT,
    ollama.FORMAT,
    k6.FORMAT,
    locust.FORMAT,
    wrk.FORMAT,
    hey.FORMAT,
    vegeta.FORMAT,
    oha.FORMAT,
    ab.FORMAT,
    jmeter.FORMAT,
    gatling.FORMAT,
    artillery.FORMAT,
    fortio.FORMAT,
    autocannon.FORMAT,
)


def recognise(source: Source, wanted: str | None = None) -> Format:
    """Return the reader of a file by its content; ``wanted`` names one and is obeyed.

    Raises ``UnknownFormat``, ``AmbiguousFormat`` or, for a name no reader has, ``UnknownName``.
    """
    return sniffing.chosen(source, FORMATS, wanted)


def read(source: Source, reader: Format) -> tuple[list[Run], list[Finding]]:
    """Return the checked runs of a file, numbered in its order, and findings on the file as a whole.

    Raises ``MalformedReport`` naming the place of what is broken, also when the file holds no level at all.
    """
    runs: list[Run] = []
    findings: list[Finding] = []
    try:
        for item in reader.read(source):
            if isinstance(item, Run):
                runs.append(lint_run(_numbered(item, len(runs))))
            else:
                findings.append(item)
    except MalformedReport:
        raise
    except InvalidInput as error:
        raise MalformedReport(error.message, violations=error.violations) from error
    if not any(run.levels for run in runs):
        raise MalformedReport.field(
            "report", source.filename, f"holds no load level that {reader.name} can read", "send the tool's result file"
        )
    return runs, findings


def _numbered(run: Run, ordinal: int) -> Run:
    levels = tuple(replace(level, index=index) for index, level in enumerate(run.levels))
    return replace(run, levels=levels, ordinal=ordinal)


__all__ = ["FORMATS", "MAX_DECOMPRESSED_BYTES", "open_source", "read", "recognise"]
