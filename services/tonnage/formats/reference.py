"""The reference page of readers: how each tool's file is recognised and how it means its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.formats import FORMATS
from tonnage.formats.reading import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.formats.base import Format

_HEAD = """# Formats

What can be read. A file is recognised by its content, never by its name; one that nobody recognises is refused with
what was seen and the nearest format's missing keys. `tonnage convert FILE` shows what would be stored.

Latencies are in milliseconds here whatever the tool writes. Metrics of unlike definitions are never compared silently:
points of different tools never share a curve. What a file does not say is absent, never 0; give it beside the file with
`--set key=value` or a `tonnage.yaml`. Any table can be read through `--map ours=theirs`.
"""

_COLUMNS: Final = {
    "load": columns.LEVEL_LOADS,
    "throughput, whole system under test": columns.LEVEL_NUMBERS,
    f"throughput, one accelerator; with `{columns.ACCELERATOR_COUNT}`": tuple(columns.RATES_PER_ACCELERATOR),
    "requests": columns.LEVEL_COUNTS,
    "latency": columns.LATENCIES,
    "request size": columns.WORK_COLUMNS,
    "telemetry": columns.TELEMETRY,
    "quality": columns.QUALITY,
    "configuration": columns.CONFIGURATION,
    "conditions": columns.CONDITIONS,
    "run": columns.RUN,
    "anything else": (f"{columns.LABEL_PREFIX}…",),
}


def page() -> str:
    """Return the page in Markdown."""
    return "\n".join([_HEAD, *_columns(), *(line for form in FORMATS for line in _form(form))]) + "\n"


def _columns() -> Iterator[str]:
    yield "## Columns of our own table\n"
    yield "What `--map` leads to, and what needs no map. A latency may end in `_s`, `_us` or `_ns` instead of `_ms`.\n"
    yield "| of | columns |\n| --- | --- |"
    for title, names in _COLUMNS.items():
        yield f"| {title} | {', '.join(f'`{name}`' for name in names)} |"
    yield ""


def _form(form: Format) -> Iterator[str]:
    yield f"## `{form.name}`\n"
    yield f"{form.title}. Recognised by: {form.recognised_by}. Definitions: `{form.metric_definitions}`.\n"
    if form.definitions:
        yield "| ours | the tool's | meaning |\n| --- | --- | --- |"
        yield from (
            f"| `{item.metric}` | {_cell(item.tool_field)} | {_cell(item.definition)} |" for item in form.definitions
        )
        yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
