"""GuideLLM's CSV: one header row up to 0.3, three from 0.6; each row becomes the tree its JSON would hold."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from tonnage.errors import MalformedReport
from tonnage.formats.reading.fields import Fields
from tonnage.formats.reading.tables import cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.formats.base import Source

# The unlabelled list in a percentile cell: min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max; there is no 50 in it.
_LIST_PLACES: Final = {"p90": 7, "p95": 8, "p99": 9}
_LIST_LENGTH: Final = 11
_LIST_NAME: Final = "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]"
_OLD_METRICS: Final = {
    "time_to_first_token_ms": "Time to first token ms",
    "inter_token_latency_ms": "Inter token latency ms",
    "request_latency": "Request latency",
    "prompt_token_count": "Prompt token count",
    "output_token_count": "Output token count",
    "requests_per_second": "Requests per second",
}
_NEW_METRICS: Final = {
    "time_to_first_token_ms": ("Time to First Token", "Successful ms"),
    "inter_token_latency_ms": ("Inter Token Latency", "Successful ms"),
    "request_latency": ("Request Latency", "Successful Sec"),
    "prompt_token_count": ("Token Metrics", "Successful Input Tokens"),
    "output_token_count": ("Token Metrics", "Successful Output Tokens"),
    "requests_per_second": ("Server Throughput", "Successful Requests/Sec"),
}
_STRATEGY: Final = re.compile(r"(?P<kind>[a-z_]+)(?:@(?P<value>[\d.]+))?")
_HEADER_ROWS: Final = 3


def is_table(columns: Sequence[str]) -> bool:
    """Tell GuideLLM's header by its first cells."""
    return grouped_header(columns) or tuple(columns[:3]) == ("Type", "Run Id", "Id")


def grouped_header(columns: Sequence[str]) -> bool:
    """Tell the header of three rows."""
    return bool(columns) and columns[0] == "Run Info"


def table_benchmarks(source: Source, *, is_grouped: bool) -> Iterator[tuple[str, Fields]]:
    """Yield place and benchmark of each data row."""
    found = cells(source)
    header_count = _HEADER_ROWS if is_grouped else 1
    header = [row for _, row in (next(found, (0, [])) for _ in range(header_count))]
    keys: list[tuple[str, ...]] = [tuple(cell.strip() for cell in column) for column in zip(*header, strict=False)]
    for number, row in found:
        place = f"row {number}"
        if len(row) != len(keys):
            raise MalformedReport.field(
                place, f"{len(row)} cells", f"has not the header's {len(keys)} cells", "send the file as written"
            )
        values = dict(zip(keys, row, strict=True))
        tree = _grouped_tree(values, place) if is_grouped else _flat_tree(values, place)
        yield place, Fields(tree, place)


def _flat_tree(row: dict[tuple[str, ...], str], place: str) -> dict[str, object]:
    def cell(name: str) -> str | None:
        return row.get((name,))

    metrics: dict[str, object] = {
        ours: {
            "successful": _block(
                cell(f"Successful {theirs} mean"),
                cell(f"Successful {theirs} median"),
                cell(f"Successful {theirs} {_LIST_NAME}"),
                f"{place}, {theirs}",
            )
        }
        for ours, theirs in _OLD_METRICS.items()
    }
    metrics["request_totals"] = {
        "successful": cell("Successful Requests"),
        "errored": cell("Errored Requests"),
        "incomplete": cell("Incomplete Requests"),
    }
    return {
        "duration": cell("Duration"),
        "start_time": cell("Start Time"),
        "config": {"strategy": _strategy(cell("Name"), place)},
        "metrics": metrics,
    }


def _grouped_tree(row: dict[tuple[str, ...], str], place: str) -> dict[str, object]:
    metrics: dict[str, object] = {
        ours: {
            "successful": _block(
                row.get((group, name, "Mean")),
                row.get((group, name, "Median")),
                row.get((group, name, "Percentiles")),
                f"{place}, {group}",
            )
        }
        for ours, (group, name) in _NEW_METRICS.items()
    }
    metrics["request_totals"] = {
        ours: row.get(("Request Counts", theirs, ""))
        for ours, theirs in (("successful", "Successful"), ("errored", "Errored"), ("incomplete", "Incomplete"))
    }
    strategy = _strategy(row.get(("Benchmark", "Strategy", "")), place)
    backend = _json_cell(row.get(("Run Info", "Backend", "")), f"{place}, Backend")
    return {
        "duration": row.get(("Timings", "Duration", "Sec")),
        "start_time": row.get(("Timings", "Start Time", "")),
        "config": {"strategy": strategy, "backend": backend if isinstance(backend, dict) else {}},
        "metrics": metrics,
    }


def _block(mean: str | None, median: str | None, percentiles: str | None, place: str) -> dict[str, object]:
    values = _json_cell(percentiles, place)
    if values is None:
        values = [None] * _LIST_LENGTH
    if not isinstance(values, list) or len(values) != _LIST_LENGTH:
        raise MalformedReport.field(
            place, percentiles, f"is not a list of {_LIST_LENGTH} percentiles", "send the file as GuideLLM wrote it"
        )
    return {
        "mean": mean,
        "median": median,
        "percentiles": {name: values[position] for name, position in _LIST_PLACES.items()},
    }


def _json_cell(cell: str | None, place: str) -> object:
    if cell is None or not cell.strip():
        return None
    try:
        value: object = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise MalformedReport.field(place, cell, "is not JSON", "send the file as GuideLLM wrote it") from error
    return value


def _strategy(text: str | None, place: str) -> dict[str, object]:
    """Return "concurrent@4" or "poisson@6.00" as the strategy of the JSON."""
    found = _STRATEGY.fullmatch((text or "").strip())
    if found is None:
        raise MalformedReport.field(f"{place}, Strategy", text, "is no strategy of GuideLLM", "send the JSON instead")
    return {"type_": found["kind"], "streams": found["value"], "rate": found["value"]}
