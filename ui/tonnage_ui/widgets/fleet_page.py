"""The Fleet page: tenants, U_total against its limit, and who reaches it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.answers import ask
from tonnage_ui.charts.fleet import utilization as chart
from tonnage_ui.forms import fleet as form
from tonnage_ui.forms.plan import LIMITS
from tonnage_ui.messages import to_json
from tonnage_ui.presenters import configuration as configurations
from tonnage_ui.presenters import fleet as presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.reproduce import grpcurl
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.figures import show_figures, show_headline
from tonnage_ui.widgets.findings import show_findings
from tonnage_ui.widgets.plan_form import limit_name, show_reserve
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from tonnage_ui.messages import pb
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words


def show_form(stored: Stored, words: Words) -> None:
    """Show every tenant, and what they share."""
    count = fields.counter("tenant_count", words, least=1, most=form.MAX_TENANT_COUNT)
    for position in range(1, count + 1):
        with st.container(border=True, key=f"section_tenant_{position}"):
            _show_tenant(form.prefix(position), stored, words)
    show_reserve(words)
    with st.expander(words("fleet.pool"), icon=":material/dns:", key="section_pool"):
        fields.whole("replica_count", words)
        fields.number("effective_capacity", words)


def _show_tenant(start: str, stored: Stored, words: Words) -> None:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        fields.text(f"{start}name", words, named="tenant_name")
    with right:
        fields.number(f"{start}peak", words, named="tenant_peak")
    fields.number(f"{start}q", words, named="tenant_q")
    if st.session_state.get(f"{start}q") is not None:
        return
    by_fingerprint = {summary.configuration.fingerprint: summary for summary in stored.configurations}
    fields.one_of(
        f"{start}configuration",
        words,
        list(by_fingerprint),
        lambda key: configurations.title(by_fingerprint[key].configuration),
        placeholder=words("fleet.pick"),
        named="tenant_configuration",
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        fields.number(f"{start}input_tokens", words, named="input_tokens")
    with right:
        fields.number(f"{start}output_tokens", words, named="output_tokens")
    chosen = fields.some_of(
        f"{start}limits",
        words,
        LIMITS,
        lambda name: limit_name(name, words),
        named="limits",
    )
    for name in chosen:
        fields.number(f"{start}{name}_ms", words, label=words("field.limit_ms", name=limit_name(name, words)))


def show_answer(words: Words) -> None:
    """Ask, once every tenant is described, and show what it comes to."""
    if not form.is_askable(session.values()):
        st.info(words("fleet.start"), icon=":material/groups:")
        return
    answer = ask(session.planning().compute_utilization, form.utilization_request(session.values()))
    if isinstance(answer.outcome, ClientError):
        shown = fault(answer.outcome, session.planning().target, words, form.key_of_field)
        show_fault(shown, words, key="fleet_fault")
        return
    _show(answer.request, answer.outcome, words)


def _show(request: pb.ComputeUtilizationRequest, answer: pb.ComputeUtilizationResponse, words: Words) -> None:
    show_headline(presenter.headline(answer, words), key="fleet_headline")
    show_figures(presenter.figures(answer, words), key="fleet_figures")
    bars = presenter.bars(answer)
    if bars:
        option = chart(bars, 100 * answer.limit_ratio, words("fleet.limit"), session.colours())
        st.echarts_chart(option, height=230, key="fleet_chart", alt=words("fleet.alt", count=len(bars)))
    if answer.equation:
        st.code(answer.equation, language=None, wrap_lines=True)
    st.dataframe(presenter.rows(answer, words), hide_index=True, key="fleet_table")
    show_findings(presenter.all_findings(answer), words, key="fleet")
    with st.expander(words("reproduce.title"), icon=":material/terminal:", key="fleet_reproduce"):
        st.code(to_json(request), language="json")
        line = grpcurl("PlanningService/ComputeUtilization", request, session.planning().target)
        st.code(line, language="shell", wrap_lines=True)
    st.caption(words("fleet.stamp", version=answer.data_version))
