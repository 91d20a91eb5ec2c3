"""Engine versions: major and minor are identity, the whole text is a condition."""

from __future__ import annotations

import re
from typing import Final

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(.*)", re.DOTALL)


def split_version(text: str) -> tuple[str, str | None]:
    """Return major.minor, and the whole version when it says more than that.

    "0.19.2" is ("0.19", "0.19.2"); a build number such as "b4567" has no minor and stays whole.
    """
    found = _VERSION.fullmatch(text)
    if found is None:
        return text, None
    minor = f"{found[1]}.{found[2]}"
    return minor, f"{minor}{found[3]}" if found[3] else None
