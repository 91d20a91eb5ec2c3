"""The Freshness page: what is planned, and what of the measurements still carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.charts.freshness import matrix as chart
from tonnage_ui.forms.command import retest_command
from tonnage_ui.forms.retest import key_of_field, retest_request
from tonnage_ui.presenters import configuration as configurations
from tonnage_ui.presenters import freshness as presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.findings import show_findings
from tonnage_ui.widgets.paging import page_of
from tonnage_ui.widgets.states import show_empty_store, show_fault

if TYPE_CHECKING:
    from tonnage_ui.messages import pb
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words

_ROWS: Final = 10
_ASKED: Final = ("accelerator", "engine", "engine_version", "weight_precision")


def show_question(stored: Stored, words: Words) -> None:
    """Show what is planned; all empty checks every configuration for age and states alone."""
    columns = st.columns(3)
    with columns[0]:
        model = fields.pick("model", words, stored.models)
    for position, field in enumerate(_ASKED, start=1):
        with columns[position % 3]:
            fields.pick(field, words, stored.values(field, model))
    with columns[2]:
        fields.whole("max_age_days", words)


def show_answer(words: Words) -> None:
    """Ask, and show the matrix and what to run again."""
    request = retest_request(session.values(), _ROWS)
    try:
        page = page_of(session.planning().check_retest, request, key="freshness")
    except ClientError as error:
        show_fault(fault(error, session.planning().target, words, key_of_field), words, key="freshness_fault")
        return
    items = list(page.items)
    if not items:
        show_empty_store(words)
        return
    shown = presenter.matrix(items, words)
    height = 120 + 34 * len(items)
    st.echarts_chart(
        chart(shown, session.colours(), words), height=height, key="freshness_chart", alt=words("freshness.alt")
    )
    st.dataframe(presenter.rows(items, words), hide_index=True, key="freshness_table")
    st.caption(words("freshness.stamp", count=page.total_count, date=page.as_of_date, version=page.data_version))
    show_findings(page.findings, words, key="freshness")
    for position, item in enumerate(items):
        _show_item(position, item, words)
    with st.expander(words("reproduce.title"), icon=":material/terminal:", key="freshness_reproduce"):
        st.code(retest_command(request), language="shell", wrap_lines=True)


def _show_item(position: int, item: pb.RetestItem, words: Words) -> None:
    if not item.changes and not item.findings:
        return
    with st.expander(configurations.title(item.configuration), key=f"freshness_item_{position}"):
        if item.changes:
            st.dataframe(presenter.change_rows(item, words), hide_index=True, key=f"freshness_changes_{position}")
        show_findings(item.findings, words, key=f"freshness_{position}")
