"""What a server must not load: libraries import pandas where it is installed, for seconds and 50 MB of nothing."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

UNUSED: Final = ("pandas",)


class _Absent(MetaPathFinder):
    """Answers for some modules that they are not installed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 -- the import system's call
        target: ModuleType | None = None,  # noqa: ARG002 -- as above
    ) -> ModuleSpec | None:
        if fullname in UNUSED:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def without_unused() -> None:
    """Keep this process from importing what the servers never use; DuckDB and pyarrow do well without.

    For processes of our own alone: once asked for, such a module stays absent until the process ends.
    """
    if not any(isinstance(finder, _Absent) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Absent())
