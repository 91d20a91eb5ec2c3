"""The Upload page: files are read for a preview, stored once on request, and each gets its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.forms import upload as form
from tonnage_ui.messages import pb
from tonnage_ui.presenters import configuration as configurations
from tonnage_ui.presenters import uploads as presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.runs import preview_rows
from tonnage_ui.widgets.findings import show_findings
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from tonnage_ui.words import Words

_PREVIEWS: Final = "upload_previews"
_RESULTS: Final = "upload_results"
_ICONS: Final = {
    "success": ":material/check_circle:",
    "info": ":material/inventory_2:",
    "error": ":material/error:",
}


@dataclass(frozen=True, slots=True)
class Pending:
    """One dropped file with what is said beside it; ``key`` names this very upload."""

    file: UploadedFile
    report_id: str
    given: dict[str, str]
    sweep_id: str
    key: str


def pick_files(words: Words) -> list[UploadedFile]:
    """Show the place to drop files."""
    return st.file_uploader(words("field.files"), accept_multiple_files=True, key="files", help=words("help.files"))


def show_labels(words: Words) -> None:
    """Show the fields for what the files do not say."""
    with st.container(border=True, key="upload_labels"):
        st.markdown(f"**{words('upload.labels')}**")
        st.caption(words("upload.labels_text"))
        columns = st.columns(3)
        for position, field in enumerate(form.GIVEN):
            columns[position % len(columns)].text_input(
                words(f"field.{field}"), key=f"given_{field}", placeholder=words("upload.from_file")
            )
        st.text_area(words("field.given_more"), key="given_more", placeholder="driver_version = 550.54", height=80)


def uploads_of(files: list[UploadedFile], words: Words) -> list[Pending]:
    """Return the files with their labels; several files are the loads of one sweep unless it is said otherwise."""
    given = form.given_labels(session.values())
    report_ids = [form.digest(file.getbuffer()) for file in files]
    sweep_id = ""
    if len(files) > 1 and st.toggle(
        words("field.one_sweep"), value=True, key="one_sweep", help=words("help.one_sweep")
    ):
        sweep_id = form.sweep_of(report_ids)
    return [
        Pending(file, report_id, given, sweep_id, form.upload_key(report_id, given, sweep_id))
        for file, report_id in zip(files, report_ids, strict=True)
    ]


def show_previews(uploads: list[Pending], words: Words) -> None:
    """Show what each file would be stored as; each is read once, however often the page is drawn."""
    previews: dict[str, pb.ConvertReportResponse | ClientError] = st.session_state.setdefault(_PREVIEWS, {})
    for pending in uploads:
        if pending.key not in previews:
            with st.spinner(words("upload.reading", name=pending.file.name)):
                previews[pending.key] = _convert(pending)
        _show_preview(pending, previews[pending.key], words)


def _convert(pending: Pending) -> pb.ConvertReportResponse | ClientError:
    pending.file.seek(0)
    try:
        return session.ingest().convert_report(
            pending.file, filename=pending.file.name, given=pending.given, sweep_id=pending.sweep_id
        )
    except ClientError as error:
        return error


def _show_preview(pending: Pending, preview: pb.ConvertReportResponse | ClientError, words: Words) -> None:
    with st.expander(pending.file.name, expanded=True, icon=":material/description:", key=f"preview_{pending.key}"):
        if isinstance(preview, ClientError):
            show_fault(fault(preview, session.ingest().target, words), words, key=f"preview_fault_{pending.key}")
            return
        st.markdown(words("upload.read_as", tool=preview.format, runs=len(preview.runs)))
        for run in preview.runs:
            st.caption(configurations.title(run.configuration))
        missing = list(dict.fromkeys(field for run in preview.runs for field in run.missing_for_plan))
        if missing:
            st.warning(words("upload.missing", fields=", ".join(missing)), icon=":material/edit:")
        st.dataframe(preview_rows(preview.runs, words), hide_index=True, key=f"preview_table_{pending.key}")
        findings = [*preview.findings, *(finding for run in preview.runs for finding in run.findings)]
        findings += [finding for run in preview.runs for level in run.levels for finding in level.findings]
        show_findings(findings, words, key=f"preview_{pending.key}", open_from="error")


def show_ingest(uploads: list[Pending], words: Words) -> None:
    """Store what is not stored yet when asked to, and show each file's result."""
    results: dict[str, pb.IngestReportResponse | ClientError] = st.session_state.setdefault(_RESULTS, {})
    waiting = [pending for pending in uploads if not isinstance(results.get(pending.key), pb.IngestReportResponse)]
    if st.button(words("upload.button", count=len(waiting)), type="primary", key="ingest_button", disabled=not waiting):
        progress = st.progress(0.0)
        for position, pending in enumerate(waiting):
            progress.progress(position / len(waiting), words("upload.sending", name=pending.file.name))
            results[pending.key] = _ingest(pending)
        progress.empty()
        st.rerun()
    for pending in uploads:
        if pending.key in results:
            _show_result(pending, results[pending.key], words)


def _ingest(pending: Pending) -> pb.IngestReportResponse | ClientError:
    pending.file.seek(0)
    try:
        return session.ingest().ingest_report(
            pending.file,
            filename=pending.file.name,
            given=pending.given,
            sweep_id=pending.sweep_id,
        )
    except ClientError as error:
        return error


def _show_result(pending: Pending, result: pb.IngestReportResponse | ClientError, words: Words) -> None:
    with st.container(border=True, key=f"result_{pending.key}"):
        if isinstance(result, ClientError):
            st.markdown(f"**{pending.file.name}**")
            show_fault(fault(result, session.ingest().target, words), words, key=f"result_fault_{pending.key}")
            return
        shown = presenter.stored(pending.file.name, result, words)
        st.markdown(f"{_ICONS[shown.tone]} **{shown.filename}**: {shown.message}")
        if shown.missing_for_plan:
            st.caption(words("upload.missing", fields=", ".join(shown.missing_for_plan)))
        if shown.findings:
            show_findings(shown.findings, words, key=f"result_{pending.key}", open_from="never")
        for fingerprint in shown.fingerprints:
            st.page_link(
                "app_pages/benchmarks.py",
                label=words("upload.see_curve"),
                icon=":material/show_chart:",
                query_params={"configuration": fingerprint},
            )


def show_formats(words: Words) -> None:
    """Show what can be read and how each tool means its metrics."""
    with st.expander(words("upload.formats"), icon=":material/list:", key="formats"):
        try:
            formats = session.ingest().list_formats().formats
        except ClientError as error:
            show_fault(fault(error, session.ingest().target, words), words, key="formats_fault")
            return
        st.dataframe(presenter.format_rows(formats, words), hide_index=True, key="format_table")
