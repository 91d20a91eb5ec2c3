"""Writes a store without end and tells every acknowledgement; the tests kill it.

Usage: store_writer.py URL FIRST PAUSE_S. Uploads are numbered from FIRST; the same number is always the same upload.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from builders import a_level
from builders_store import a_stored_run, an_upload, stored

from tonnage.store import open_writer

GROUP = 3
MAINTAIN_EVERY = 4


def main(url: str, first: int, pause_s: float) -> None:
    """Append groups of uploads for ever, with housekeeping now and then."""
    writer = open_writer(url)
    for count, number in enumerate(itertools.count(first, GROUP), start=1):
        runs = [
            a_stored_run("default", f"run {number + offset}", *(a_level(n + 1, n + 1.0, index=n) for n in range(3)))
            for offset in range(GROUP)
        ]
        started_s = time.monotonic()
        receipts = stored(writer, *(an_upload(run) for run in runs))
        told = {
            "next": number + GROUP,
            "run_ids": [run.run_id for run in runs],
            "data_version": receipts[0].data_version,
            "ack_ms": 1000 * (time.monotonic() - started_s),
            "at_s": time.time(),
        }
        print(json.dumps(told), flush=True)  # noqa: T201 -- how it tells
        if count % MAINTAIN_EVERY == 0:
            writer.maintain()
        time.sleep(pause_s)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
