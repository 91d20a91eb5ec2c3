"""Whether the raw reports a store names are there and match their digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput, NotStored, StoreDamaged
from tonnage.store.admin.damage import Damage
from tonnage.store.reports import ReportFiles

if TYPE_CHECKING:
    from pathlib import Path

    from tonnage.store.admin.frozen import Frozen

_CHUNK_BYTES: Final = 1 << 20
_CURE: Final = (
    "move it away and put the same file of a backup in its place, or send the same report again: its points are kept"
)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A raw report the store names; ``path`` stands below the store's folder."""

    report_id: str
    size_bytes: int

    @property
    def path(self) -> str:
        """Return where its bytes are kept."""
        return f"reports/{self.report_id[:2]}/{self.report_id}.zst"


def stored_reports(store: Frozen) -> list[StoredReport]:
    """Return every raw report the store names, once, by digest; raises ``duckdb.Error``."""
    if "reports" not in store.tables:
        return []
    rows = store.rows("SELECT report_id, any_value(size_bytes) FROM lake.reports GROUP BY report_id ORDER BY report_id")
    return [StoredReport(str(report_id), int(str(size_bytes))) for report_id, size_bytes in rows]


def check_report(folder: Path, report: StoredReport) -> Damage | None:
    """Read one report to its end."""
    try:
        with ReportFiles(folder / "reports").open(report.report_id) as file:
            size_bytes = sum(len(chunk) for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""))
    except NotStored:
        return _damaged("REPORT_MISSING", report, "is not there")
    except (StoreDamaged, InvalidInput, OSError) as error:
        return _damaged("REPORT_DAMAGED", report, str(error))
    if size_bytes != report.size_bytes:
        return _damaged("REPORT_DAMAGED", report, f"holds {size_bytes} bytes, and came with {report.size_bytes}")
    return None


def unnamed_reports(folder: Path, reports: list[StoredReport]) -> list[str]:
    """Return the files under ``reports`` that no upload names: of one in flight, or of one that was refused."""
    named = {report.path for report in reports}
    present = (path.relative_to(folder).as_posix() for path in (folder / "reports").glob("*/*"))
    return sorted(path for path in present if path not in named)


def _damaged(code: str, report: StoredReport, problem: str) -> Damage:
    return Damage(code=code, path=report.path, problem=problem, cure=_CURE)
