"""Configurations as titles and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage_ui import numbers
from tonnage_ui.messages import count_of, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words

_SHOWN_APART: Final = frozenset({"fingerprint"})


def short_model(model: str) -> str:
    """Return a model's id without the publisher."""
    return model.rsplit("/", 1)[-1]


def title(configuration: pb.Configuration, *, with_model: bool = True) -> str:
    """Return one line that tells configurations apart for a reader."""
    engine = " ".join(part for part in (configuration.engine, configuration.engine_version) if part)
    parts = [short_model(configuration.model)] if with_model else []
    parts += [accelerators(configuration), engine, configuration.weight_precision, _parallel(configuration)]
    return " · ".join(part for part in parts if part) or numbers.DASH


def accelerators(configuration: pb.Configuration) -> str:
    """Return "2 × h100-sxm-80gb"; the count is left out when nobody stated it."""
    name = configuration.accelerator
    if not name or not configuration.HasField("accelerators_per_replica"):
        return name
    return f"{configuration.accelerators_per_replica} × {name}"


def rows(configuration: pb.Configuration) -> list[dict[str, str]]:
    """Return every stated field and its value, in the order of the .proto file."""
    return [
        {"field": descriptor.name, "value": str(value)}
        for descriptor, value in configuration.ListFields()
        if descriptor.name not in _SHOWN_APART
    ]


def summary_rows(summaries: list[pb.ConfigurationSummary], words: Words) -> list[dict[str, str | int]]:
    """Return a table of configurations: what each is, how much was measured, what a plan lacks."""
    return [
        {
            words("column.model"): numbers.text(short_model(summary.configuration.model)),
            words("column.accelerator"): numbers.text(accelerators(summary.configuration)),
            words("column.engine"): numbers.text(
                " ".join(part for part in (summary.configuration.engine, summary.configuration.engine_version) if part)
            ),
            words("column.precision"): numbers.text(summary.configuration.weight_precision),
            words("column.runs"): summary.run_count,
            words("column.levels"): summary.level_count,
            words("column.newest"): numbers.text(summary.newest_measured_date),
            words("column.missing_for_plan"): numbers.text(", ".join(summary.missing_for_plan)),
            words("column.sizes"): sizes(summary.measured_work),
        }
        for summary in summaries
    ]


def sizes(works: Iterable[pb.WorkSize]) -> str:
    """Return the distinct request sizes of some sweeps on one line."""
    shown = [size(work) for work in works]
    return ", ".join(dict.fromkeys(shown)) or numbers.DASH


def size(work: pb.WorkSize) -> str:
    """Return a request's size in its modality's own units."""
    kind = work.WhichOneof("work")
    if kind is None:
        return numbers.DASH
    part = getattr(work, kind)
    if kind == "text":
        return f"{_stated(part, 'input_tokens_mean')} → {_stated(part, 'output_tokens_mean')}"
    stated = [f"{descriptor.name} {numbers.number(value)}" for descriptor, value in part.ListFields()]
    return f"{kind}: {', '.join(stated)}" if stated else str(kind)


def _stated(part: pb.TextWork, field: str) -> str:
    return numbers.number(number_of(part, field))


def _parallel(configuration: pb.Configuration) -> str:
    pairs = (
        ("TP", "tensor_parallel"),
        ("PP", "pipeline_parallel"),
        ("EP", "expert_parallel"),
        ("DP", "data_parallel"),
    )
    stated = [
        f"{short}{getattr(configuration, field)}" for short, field in pairs if (count_of(configuration, field) or 0) > 1
    ]
    return " ".join(stated)
