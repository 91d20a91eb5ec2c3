"""Servers stay without what they never use."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pandas", reason="only where it is installed could it be imported")
ASKED = """
import sys
import duckdb, numpy, pyarrow
from tonnage.rpc.lean import without_unused
{call}
duckdb.connect().execute("SELECT ?", [1]).fetchone()
pyarrow.array(numpy.arange(3))
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize(("call", "loaded"), [("", "True"), ("without_unused()", "False")])
def test_libraries_load_pandas_only_where_it_is_not_kept_out(call: str, loaded: str) -> None:
    command = [sys.executable, "-c", ASKED.format(call=call)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == loaded
