"""``tonnage models`` and ``tonnage gpus``: facts that ship with the product."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType
from typer import Argument, Option

from tonnage.cli import kit, output
from tonnage.cli.commands.vram import config_bytes
from tonnage.cli.exits import Exit
from tonnage.cli.flags.asking import Planning
from tonnage.cli.output import UNKNOWN, field, gib, number, table
from tonnage.cli.render.findings import findings
from tonnage.client import messages

models_app = kit.new_app()
gpus_app = kit.new_app()

_PAGE = 1000


@kit.command(models_app)
def models(
    asking: Planning,
    query: Annotated[str, Argument(help="Part of an id; all when left out.")] = "",
    config: Annotated[Path | None, Option(help="Read a config.json instead, and say what it means.")] = None,
) -> int:
    """List the models whose shape is known, or read a config.json.

    Ends with 1 when none is found.
    """
    with asking.client() as client:
        if config is not None:
            found = client.get_model(messages.GetModelRequest(config_json=config_bytes(config) or b""))
            kit.show(found, as_json=asking.as_json, parts=lambda: _one(found))
            return Exit.OK
        rows = list(client.models(messages.ListModelsRequest(query=query, page_size=_PAGE)))
    return _listed(asking, "models", rows, lambda: iter([_models(rows)]))


def _one(found: messages.GetModelResponse) -> Iterator[RenderableType]:
    yield _models([found.model])
    yield from findings(found.findings)


def _models(rows: list[messages.Model]) -> RenderableType:
    cells = [
        (
            item.id,
            number(field(item.shape, "total_parameter_count")),
            number(field(item.shape, "layer_count")),
            item.attention_kind or UNKNOWN,
            number(field(item, "kv_bytes_per_token_16bit")),
            number(field(item, "max_position_embeddings")),
            item.checkpoint_precision or UNKNOWN,
        )
        for item in rows
    ]
    columns = ("model", "parameters", "layers", "attention", "KV bytes/token", "positions", "precision")
    return table("", columns, cells, right=(1, 2, 4, 5))


@kit.command(gpus_app)
def gpus(
    asking: Planning, query: Annotated[str, Argument(help="Part of an id, name or alias; all when left out.")] = ""
) -> int:
    """List the accelerators that are known.

    Ends with 1 when none is found.
    """
    with asking.client() as client:
        rows = list(client.accelerators(messages.ListAcceleratorsRequest(query=query, page_size=_PAGE)))
    return _listed(asking, "accelerators", rows, lambda: iter([_gpus(rows)]))


def _gpus(rows: list[messages.Accelerator]) -> RenderableType:
    cells = [
        (
            item.id,
            item.name,
            _usable(item),
            number(field(item, "memory_sold_gb")),
            number(field(item, "memory_bandwidth_gb_per_s")),
            ", ".join(item.aliases),
            item.note,
        )
        for item in rows
    ]
    columns = ("accelerator", "name", "driver shows", "sold as GB", "GB/s", "also called", "note")
    return table("", columns, cells, right=(2, 3, 4))


def _usable(item: messages.Accelerator) -> str:
    low, high = field(item, "usable_low_bytes"), field(item, "usable_high_bytes")
    return gib(low) if low == high else f"{gib(low)} to {gib(high)}"


def _listed(asking: Planning, name: str, rows: list[Any], parts: Any) -> int:  # noqa: ANN401 -- rows of either kind
    if asking.as_json:
        output.print_json({name: [output.as_dict(item) for item in rows]})
    elif rows:
        kit.draw(parts())
    else:
        kit.draw([f"no {name} match"])
    return Exit.OK if rows else Exit.NO
