"""How well our own models predict what somebody measured: ``python -m tonnage.accuracy vram|curves``.

The composition root of those checks: files, the catalog's facts and the models' maths meet here.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tonnage import catalog
from tonnage.capacity.accuracy import curves
from tonnage.capacity.accuracy.page import page
from tonnage.capacity.accuracy.rows import rows_of
from tonnage.capacity.accuracy.summary import as_json
from tonnage.capacity.memory.accuracy import accuracy
from tonnage.capacity.memory.accuracy_text import markdown
from tonnage.capacity.memory.calibrate import Observation
from tonnage.errors import AmbiguousName, TonnageError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.accuracy.curves import CurveReport
    from tonnage.capacity.accuracy.rows import Row
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
        return accuracy(csv.DictReader(file), CatalogFacts(), known_observations())


def known_observations() -> tuple[Observation, ...]:
    """Return what the logs say that ship with the product."""
    return tuple(
        Observation(constant=item.constant, value=item.value, weight=item.weight, family=item.family, log=item.log)
        for item in catalog.log_figures()
    )


def judge_curves(train: Path, test: Path, leave_out: Sequence[str] = ()) -> CurveReport:
    """Return how well the runs of one CSV are predicted from those of another, see ``capacity.accuracy.curves``.

    Raises ``InvalidInput`` naming what is wrong with a file.
    """
    return curves.accuracy(_runs(train, "train"), _runs(test, "test"), [curves.LeaveOut(item) for item in leave_out])


def _runs(path: Path, name: str) -> tuple[Row, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return rows_of(csv.DictReader(file), name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tonnage.accuracy", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    vram = kinds.add_parser("vram", help="start-up logs, columns as docs/vram.md lists them")
    vram.add_argument("csv", type=Path)
    runs = kinds.add_parser("curves", help="published runs, columns as docs/method.md lists them")
    runs.add_argument("--train", type=Path, required=True, help="what may be known")
    runs.add_argument("--test", type=Path, required=True, help="what is predicted")
    runs.add_argument(
        "--leave-out",
        action="append",
        default=[],
        choices=[item.value for item in curves.LeaveOut],
        help="take this of each test row out of the training rows first; repeated, each in turn",
    )
    for kind in (vram, runs):
        kind.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return parser


def _said(given: argparse.Namespace) -> str:
    if given.kind == "vram":
        logs = judge(given.csv)
        return _json(logs.as_json()) if given.json else markdown(logs)
    report = judge_curves(given.train, given.test, given.leave_out)
    return _json(as_json(report)) if given.json else page(report)


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2, allow_nan=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the check; 0 when it could be made, 2 for a file that cannot be read."""
    given = _parser().parse_args(arguments)
    try:
        text = _said(given)
    except (OSError, UnicodeDecodeError, csv.Error, TonnageError) as error:
        where = "" if given.kind == "curves" else f"{given.csv}: "
        print(f"{where}{error}", file=sys.stderr)  # noqa: T201 -- a command's output
        return EXIT_BAD_INPUT
    print(text)  # noqa: T201 -- a command's output
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
