"""The columns of a bulk table: those of our own table form, and which run each row is of."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from tonnage.domain.configuration import FIELD_NAMES
from tonnage.formats.reading import columns as table_columns
from tonnage.store.schema import IDENTITY

RUN: Final = "run"
LABEL_PREFIX: Final = table_columns.LABEL_PREFIX
TEXT: Final = pa.string()
COUNT: Final = pa.int64()
NUMBER: Final = pa.float64()
FLAG: Final = pa.bool_()
TIME: Final = pa.timestamp("us", tz="UTC")

QUALITY_TEXTS: Final = ("quality_suite", "quality_suite_version")
COUNTS: Final = (*table_columns.LEVEL_COUNTS, "vram_peak_bytes")
# Column to the store's name of it, and the modality it belongs to.
WORK: Final = {
    column: (field, kind) for kind, fields in table_columns.WORKS.items() for column, field in fields.items()
}
RATES: Final = (*table_columns.LEVEL_LOADS, *table_columns.LEVEL_NUMBERS, *table_columns.LATENCIES, *WORK)
NUMBERS: Final = (*RATES, *(name for name in table_columns.TELEMETRY if name not in COUNTS), "quality_score")
# What holds for a whole run.
HEADERS: Final = (*FIELD_NAMES, *table_columns.CONDITIONS, *table_columns.RUN, "modality")

TYPES: Final[dict[str, pa.DataType]] = {
    RUN: TEXT,
    **dict.fromkeys(HEADERS, TEXT),
    **dict(IDENTITY),
    "replicas_under_test": COUNT,
    "measured_at": TIME,
    **dict.fromkeys(QUALITY_TEXTS, TEXT),
    **dict.fromkeys(COUNTS, COUNT),
    **dict.fromkeys(NUMBERS, NUMBER),
}


def type_of(column: str) -> pa.DataType | None:
    """Return the type a column is held in; None for a name that is none of ours."""
    if column.startswith(LABEL_PREFIX) and len(column) > len(LABEL_PREFIX):
        return TEXT
    return TYPES.get(column)


def is_header(column: str) -> bool:
    """Tell whether a column speaks of the run, not of one level."""
    return column in HEADERS or column.startswith(LABEL_PREFIX)
