"""How well the memory model predicts somebody's start-up logs: ``python -m tonnage.accuracy vram CSV [--json]``.

The composition root of that check: the catalog's facts and the model's maths meet here.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tonnage import catalog
from tonnage.capacity.memory.accuracy import accuracy
from tonnage.capacity.memory.accuracy_text import markdown
from tonnage.errors import AmbiguousName, TonnageError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.memory.accuracy_report import Report
    from tonnage.domain.hardware import Accelerator
    from tonnage.domain.memory import ModelShape

EXIT_OK: Final = 0
EXIT_BAD_INPUT: Final = 2


class CatalogFacts:
    """What names in logs mean, by the catalog."""

    def shape(self, name: str) -> ModelShape | None:
        """Return the model of a name, or None when the catalog has none or several."""
        try:
            return catalog.model(name)
        except (UnknownName, AmbiguousName):
            return None

    def device(self, name: str) -> Accelerator | None:
        """Return the card of a name; of several, the one with the least memory; None for none."""
        try:
            return catalog.accelerator(name)
        except AmbiguousName as error:
            meant = [catalog.accelerator(item) for item in error.context["candidates"].split(", ")]
            sized = [(item.usable_low_bytes, item) for item in meant if item.usable_low_bytes is not None]
            return min(sized, key=lambda pair: pair[0])[1] if sized else None
        except UnknownName:
            return None


def judge(path: Path) -> Report:
    """Return how well the model predicts the logs of a CSV; raises ``InvalidInput`` naming what is wrong with it."""
    with path.open(encoding="utf-8", newline="") as file:
        return accuracy(csv.DictReader(file), CatalogFacts())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the check; 0 when it could be made, 2 for a file that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m tonnage.accuracy", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    vram = kinds.add_parser("vram", help="start-up logs, columns as docs/vram.md lists them")
    vram.add_argument("csv", type=Path)
    vram.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    given = parser.parse_args(arguments)
    try:
        report = judge(given.csv)
    except (OSError, UnicodeDecodeError, csv.Error, TonnageError) as error:
        print(f"{given.csv}: {error}", file=sys.stderr)  # noqa: T201 -- a command's output
        return EXIT_BAD_INPUT
    text = json.dumps(report.as_json(), indent=2, allow_nan=False) if given.json else markdown(report)
    print(text)  # noqa: T201 -- a command's output
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
