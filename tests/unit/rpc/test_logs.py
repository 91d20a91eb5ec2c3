"""Logs are JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

SCRIPT = """
import structlog
from tonnage.rpc import logs
logs.configure("{level}")
log = logs.logger("ingest")
structlog.contextvars.bind_contextvars(request_id="r1")
log.debug("quiet")
log.info("two\\nlines", value="\\u2603")
try:
    raise ValueError("inner")
except ValueError:
    log.error("failed", exc_info=True)
"""


def lines_at(level: str) -> list[dict[str, object]]:
    """Return what a process writes to stderr; stdout stays free."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(level=level)], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_line_is_json_with_its_service_and_request() -> None:
    first, second = lines_at("info")
    assert (first["event"], first["value"]) == ("two\nlines", "\u2603")
    assert {first["service"], second["service"]} == {"ingest"}
    assert {first["request_id"], second["request_id"]} == {"r1"}
    assert "ValueError: inner" in str(second["exception"])


def test_a_line_tells_its_moment_in_utc_and_its_level() -> None:
    first, second = lines_at("info")
    assert (first["level"], second["level"]) == ("info", "error")
    told = datetime.fromisoformat(str(first["timestamp"]))
    assert str(first["timestamp"]).endswith("Z")
    assert abs(datetime.now(UTC) - told) < timedelta(minutes=1)


def test_what_lies_below_the_level_is_left_out() -> None:
    assert [line["event"] for line in lines_at("error")] == ["failed"]
    assert [line["event"] for line in lines_at("debug")] == ["quiet", "two\nlines", "failed"]
