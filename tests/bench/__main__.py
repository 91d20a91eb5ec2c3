"""``make bench``: the services against bare limits, as ratios taken in one run.

Prints one JSON line. Each side's absolute figure stands beside the ratio; machines are noisy, so compare ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from bench import floors, ingesting, planning

QUICK_SIZES = {"10k": 10_000, "200k": 200_000}
SIZES = {"10k": 10_000, "1m": 1_000_000, "10m": 10_000_000}


def main() -> None:
    """Run the parts and print the line."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--quick", action="store_true", help="end within a minute")
    parser.add_argument("--check", action="store_true", help="end with status 1 when a ratio fell below its floor")
    parser.add_argument("--rounds", type=int, default=0, help="rounds; each ratio is the median over them")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    with tempfile.TemporaryDirectory(prefix="tonnage-bench-") as folder:
        seconds = 2.0 if options.quick else 5.0
        sizes = QUICK_SIZES if options.quick else SIZES
        points = 100_000 if options.quick else 1_000_000
        found = planning.measure(Path(folder) / "plan", rounds=rounds, seconds=seconds, sizes=sizes)
        found |= ingesting.measure(Path(folder) / "ingest", rounds=rounds, points=points, seconds=seconds)
    line = {name: round(statistics.median(values), 4) for name, values in found.items()}
    sys.stdout.write(json.dumps(line, sort_keys=True) + "\n")
    fallen = floors.fallen(line) if options.check else []
    for text in fallen:
        sys.stderr.write(text + "\n")
    sys.exit(1 if fallen else 0)


if __name__ == "__main__":
    main()
