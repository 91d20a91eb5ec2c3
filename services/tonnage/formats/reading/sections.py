"""CSV files of several tables one after the other, as GenAI-Perf and AIPerf write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tonnage.formats.reading.tables import cells, without_thousands

if TYPE_CHECKING:
    from tonnage.formats.base import Source

_NAME: Final = re.compile(r"(?P<name>.*?)\s*(?:\((?P<unit>[^()]*)\))?")


def metric_blocks(source: Source) -> dict[str, object]:
    """Return blocks by metric name ("Time to First Token (ms)" becomes time_to_first_token with unit ms).

    A row whose first cell is "Metric" starts a table; a table of "Metric,Value" gives averages. Rows of other tables
    (telemetry by GPU) are left out.
    """
    blocks: dict[str, object] = {}
    header: list[str] | None = None
    for _, row in cells(source):
        if row[0].strip() == "Metric":
            header = [cell.strip() for cell in row]
        elif header is None or len(row) != len(header):
            header = None
        else:
            name, unit = _name(row[0])
            values = {
                key.lower(): without_thousands(cell) or None for key, cell in zip(header[1:], row[1:], strict=True)
            }
            if "value" in values:
                values = {"avg": values["value"]}
            blocks.setdefault(name, {"unit": unit, **values})
    return blocks


def _name(cell: str) -> tuple[str, str | None]:
    found = _NAME.fullmatch(cell.strip())
    if found is None:
        return cell, None
    return re.sub(r"[^a-z0-9]+", "_", found["name"].lower()).strip("_"), found["unit"]
