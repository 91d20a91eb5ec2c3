"""Whether a store is whole: every file against its checksum, and the rows against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.store.admin.counts import counts_of
from tonnage.store.admin.damage import Damage, Note
from tonnage.store.admin.data_check import check_data, orphans, present_files
from tonnage.store.admin.frozen import frozen
from tonnage.store.admin.report_check import check_report, stored_reports, unnamed_reports
from tonnage.store.admin.rules import SHOWN_COUNT, breaches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tonnage.store.admin.counts import Counts
    from tonnage.store.admin.data_check import DataCheck
    from tonnage.store.admin.frozen import Frozen
    from tonnage.store.url import EmbeddedPlace

_ROWS_CURE: Final = "restore the newest backup whose check is good into an empty folder, and send what came later again"
# Without these readable nothing can be said of the rows.
_UNCHECKED: Final = "raw reports and rows were not looked at, since data files are damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found; what damaged data files hide is None."""

    schema_version: int
    data_file_count: int
    damages: tuple[Damage, ...]
    notes: tuple[Note, ...]
    report_count: int | None = None
    data_version: int | None = None
    counts: Counts | None = None

    @property
    def is_sound(self) -> bool:
        """Tell whether nothing has to be mended."""
        return not self.damages


def check(place: EmbeddedPlace) -> CheckReport:
    """Check a store while whoever writes it goes on; changes nothing.

    Raises as ``frozen`` does: a catalog that is damaged ends the check, since it names everything else.
    """
    present = present_files(place) if place.folder.is_dir() else set()
    with frozen(place) as store:
        data = check_data(store)
        lost = orphans(store, present)
        if data.damages:
            return CheckReport(
                schema_version=store.schema_version,
                data_file_count=len(data.files),
                damages=data.damages,
                notes=(*_data_notes(data, lost), Note(code="ROWS_NOT_CHECKED", count=1, what=_UNCHECKED)),
            )
        return _with_rows(store, data, lost)


def _with_rows(store: Frozen, data: DataCheck, lost: Sequence[str]) -> CheckReport:
    reports = stored_reports(store)
    folder = store.place.folder
    unnamed = unnamed_reports(folder, reports)
    what = "raw reports no upload names, of one in flight or one that was refused; they do no harm"
    found = [damage for report in reports if (damage := check_report(folder, report)) is not None]
    return CheckReport(
        schema_version=store.schema_version,
        data_file_count=len(data.files),
        damages=(*found, *_broken_rules(store)),
        notes=(*_data_notes(data, lost), *_note("REPORT_UNNAMED", unnamed, what)),
        report_count=len(reports),
        data_version=store.data_version,
        counts=counts_of(store),
    )


def _broken_rules(store: Frozen) -> Iterator[Damage]:
    for breach in breaches(store):
        more = "" if breach.case_count <= SHOWN_COUNT else f" and {breach.case_count - SHOWN_COUNT} more"
        problem = f"{breach.problem}: {', '.join(breach.cases)}{more}"
        yield Damage(code=breach.code, path="", problem=problem, cure=_ROWS_CURE)


def _data_notes(data: DataCheck, lost: Sequence[str]) -> list[Note]:
    return [
        *_note("FILE_UNNAMED", lost, "files the store does not name; ingest removes them when they are a day old"),
        *_note(
            "FILE_WITHOUT_CHECKSUM",
            data.unnoted,
            "data files written before checksums were kept: they were read whole, and a changed value goes unnoticed",
        ),
    ]


def _note(code: str, paths: Sequence[str], what: str) -> list[Note]:
    return [Note(code=code, count=len(paths), what=what, paths=tuple(paths[:SHOWN_COUNT]))] if paths else []
