"""``make fuzz``: a million inputs made from real files; whatever is neither points nor a named refusal is kept.

Prints one JSON line: how many inputs, what came of them, and the failures. Ends with 1 when there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import resource
import sys
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.corpus import seeds
from fuzz.judge import HungError, judged
from fuzz.mutate import mutated
from tonnage.errors import InvalidInput
from tonnage.formats import open_source, recognise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.corpus import Seed

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Run the inputs and print the line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many at most")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then, whatever is left")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument(
        "--from", dest="folders", type=Path, action="append", default=[], help="more files to start from"
    )
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where failing inputs are kept")
    given = parser.parse_args()
    folders = [ROOT / "bench_data" / "samples", *(folder for folder in given.folders if folder.is_dir())]
    found = Session(given.seed, folders, given.keep)
    found.run(given.inputs, given.seconds)
    sys.stdout.write(json.dumps(found.told(), sort_keys=True) + "\n")
    return 1 if found.failures else 0


class Session:
    """One run of the fuzzer; deterministic but for how far it comes in a given time."""

    def __init__(self, seed: int, folders: Sequence[Path], keep: Path) -> None:
        self.failures: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._chance = random.Random(seed)  # noqa: S311 -- inputs, not secrets
        self._seeds = seeds(folders)
        self._by_reader = _by_reader(self._seeds)
        self._keep = keep
        self._slowest_s = 0.0

    def run(self, input_count: int, seconds: float) -> None:
        """Judge inputs until enough or late."""
        end_s = time.monotonic() + seconds
        for _ in range(input_count):
            started_s = time.monotonic()
            if started_s > end_s:
                return
            alike = self._by_reader[self._chance.randrange(len(self._by_reader))]
            self._one(mutated(self._chance, self._chance.choice(alike), self._seeds))
            self._slowest_s = max(self._slowest_s, time.monotonic() - started_s)

    def _one(self, data: bytes) -> None:
        try:
            self._outcomes[judged(data)] += 1
        except (Exception, HungError) as error:  # noqa: BLE001 -- whatever comes out is the finding
            self._failed(data, error)

    def _failed(self, data: bytes, error: BaseException) -> None:
        """Keep one input for each place a failure comes from."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {str(error)[:120]}"
        self.failures[place] += 1
        if self.failures[place] == 1:
            self._keep.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha256(data).hexdigest()[:16]
            (self._keep / name).write_bytes(data)
            (self._keep / f"{name}.txt").write_text("".join(traceback.format_exception(error)))

    def told(self) -> dict[str, object]:
        """Return what came out, for the line."""
        outcomes = dict(sorted(self._outcomes.items()))
        return {
            "input_count": sum(self._outcomes.values()) + sum(self.failures.values()),
            "points": {name: count for name, count in outcomes.items() if not name.isupper()},
            "refusals": {name: count for name, count in outcomes.items() if name.isupper()},
            "failures": dict(self.failures),
            "slowest_s": round(self._slowest_s, 3),
            "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        }


def _by_reader(found: Sequence[Seed]) -> list[list[Seed]]:
    """Return the seeds by the reader that takes them, so that every reader gets as many inputs as another."""
    groups: defaultdict[str, list[Seed]] = defaultdict(list)
    for seed in found:
        source = open_source(lambda seed=seed: io.BytesIO(seed.data), filename="", size_bytes=len(seed.data))  # type: ignore[misc]
        try:
            name = recognise(source).name
        except InvalidInput:
            name = ""
        groups[name].append(seed)
    return [groups[name] for name in sorted(groups)]


if __name__ == "__main__":
    sys.exit(main())
