"""The Benchmarks page: a paged list of configurations, the curve explorer, the runs behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.answers import ask
from tonnage_ui.forms.command import curve_command
from tonnage_ui.forms.plan import fill_slo
from tonnage_ui.messages import pb
from tonnage_ui.presenters import configuration as configurations
from tonnage_ui.presenters import curve as curve_presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.reproduce import Call
from tonnage_ui.presenters.runs import run_rows
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.curve import show_curves
from tonnage_ui.widgets.findings import show_findings
from tonnage_ui.widgets.paging import page_of
from tonnage_ui.widgets.plan_form import show_limits
from tonnage_ui.widgets.reproduce import show_reproduce
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words

_ROWS: Final = 10
_COMPARED: Final = 3
_CHOSEN: Final = "configuration"


def show_configurations(stored: Stored, words: Words) -> None:
    """Show one page of the configurations that match; a click picks one."""
    left, right = st.columns(2)
    with left:
        model = fields.pick("model", words, stored.models)
    with right:
        accelerator = fields.pick("accelerator", words, stored.values("accelerator", model))
    request = pb.ListConfigurationsRequest(
        filter=pb.Configuration(model=model, accelerator=accelerator), page_size=_ROWS
    )
    try:
        page = page_of(session.planning().list_configurations, request, key="configurations")
    except ClientError as error:
        show_fault(fault(error, session.planning().target, words), words, key="configurations_fault")
        return
    summaries = list(page.configurations)
    st.session_state["configuration_rows"] = [summary.configuration.fingerprint for summary in summaries]
    st.dataframe(
        configurations.summary_rows(summaries, words),
        hide_index=True,
        key="configuration_table",
        on_select=_pick_row,
        selection_mode="single-row",
    )
    st.caption(words("benchmarks.total", count=page.total_count, version=page.data_version))


def _pick_row() -> None:
    rows = st.session_state["configuration_table"].selection.rows
    if rows:
        st.session_state[_CHOSEN] = st.session_state["configuration_rows"][rows[0]]


def pick(stored: Stored, words: Words) -> pb.ConfigurationSummary | None:
    """Return the configuration whose curve is shown; its fingerprint stands in the URL."""
    by_fingerprint = {summary.configuration.fingerprint: summary for summary in stored.configurations}
    chosen = fields.one_of(
        _CHOSEN,
        words,
        list(by_fingerprint),
        lambda key: configurations.title(by_fingerprint[key].configuration),
        placeholder=words("benchmarks.pick"),
    )
    return None if chosen is None else by_fingerprint[chosen]


def show_explorer(chosen: pb.ConfigurationSummary, stored: Stored, words: Words) -> None:
    """Show the curve of a configuration and size, with others over it."""
    left, right = st.columns([4, 7], gap="large")
    with left:
        work = _pick_size(chosen, words)
        others = _pick_others(chosen, stored, words)
        show_limits(words)
    slo = pb.Slo()
    fill_slo(slo, session.values())
    request = _question(chosen, work, slo)
    with right:
        answer = ask(session.planning().get_curve, request)
        if isinstance(answer.outcome, ClientError):
            show_fault(fault(answer.outcome, session.planning().target, words), words, key="explorer_fault")
            return
        _show_curve(request, answer.outcome, [(other, _question(other, work, slo)) for other in others], words)
        _plan_link(chosen, answer.outcome, words)


def _pick_size(chosen: pb.ConfigurationSummary, words: Words) -> pb.WorkSize | None:
    if not chosen.measured_work:
        return None
    position = fields.one_of(
        "measured_size",
        words,
        range(len(chosen.measured_work)),
        lambda index: configurations.size(chosen.measured_work[index]),
    )
    return None if position is None else chosen.measured_work[position]


def _pick_others(chosen: pb.ConfigurationSummary, stored: Stored, words: Words) -> list[pb.ConfigurationSummary]:
    by_fingerprint = {
        summary.configuration.fingerprint: summary for summary in stored.configurations if summary != chosen
    }
    picked = fields.some_of(
        "compare",
        words,
        list(by_fingerprint),
        lambda key: configurations.title(by_fingerprint[key].configuration),
        most=_COMPARED,
    )
    return [by_fingerprint[key] for key in picked]


def _question(summary: pb.ConfigurationSummary, work: pb.WorkSize | None, slo: pb.Slo) -> pb.GetCurveRequest:
    request = pb.GetCurveRequest(configuration=pb.Configuration(fingerprint=summary.configuration.fingerprint))
    if work is not None:
        request.work.CopyFrom(work)
    if slo != pb.Slo():
        request.slo.CopyFrom(slo)
    return request


def _show_curve(
    request: pb.GetCurveRequest,
    curve: pb.GetCurveResponse,
    others: list[tuple[pb.ConfigurationSummary, pb.GetCurveRequest]],
    words: Words,
) -> None:
    curves = [(configurations.title(curve.configuration) if others else "", curve)]
    for other, question in others:
        answer = ask(session.planning().get_curve, question)
        if isinstance(answer.outcome, ClientError):
            show_fault(
                fault(answer.outcome, session.planning().target, words),
                words,
                key=f"compare_fault_{other.configuration.fingerprint}",
            )
        else:
            curves.append((configurations.title(other.configuration), answer.outcome))
    for name, shown in curves:
        if shown.HasField("capacity"):
            text = curve_presenter.capacity_text(shown.capacity, words)
            st.markdown(f"**{name}** {text}" if name else f"**{text}**")
        st.caption(words("benchmarks.measured_size", size=configurations.size(shown.measured_work)))
    show_curves(curves, request.slo, words, key="explorer")
    show_findings([finding for _, shown in curves for finding in shown.findings], words, key="explorer")
    with st.expander(words("plan.points"), icon=":material/table_rows:", key="explorer_points"):
        for _, shown in curves:
            st.dataframe(curve_presenter.point_rows(shown, words), hide_index=True)
    call = Call("BenchmarkService/GetCurve", session.planning().target, curve_command(request))
    show_reproduce(request, curve, call, words, key="curve")


def _plan_link(chosen: pb.ConfigurationSummary, curve: pb.GetCurveResponse, words: Words) -> None:
    text = curve.measured_work.text
    stated = {"model": chosen.configuration.model, "fingerprint": chosen.configuration.fingerprint}
    if text.HasField("input_tokens_mean") and text.HasField("output_tokens_mean"):
        stated |= {"input_tokens": f"{text.input_tokens_mean:g}", "output_tokens": f"{text.output_tokens_mean:g}"}
    st.page_link("app_pages/plan.py", label=words("benchmarks.plan"), icon=":material/calculate:", query_params=stated)


def show_runs(chosen: pb.ConfigurationSummary, words: Words) -> None:
    """Show the runs behind a configuration, newest first."""
    st.subheader(words("benchmarks.runs"))
    request = pb.ListRunsRequest(filter=pb.Configuration(fingerprint=chosen.configuration.fingerprint), page_size=_ROWS)
    try:
        page = page_of(session.planning().list_runs, request, key=f"runs_{chosen.configuration.fingerprint}")
    except ClientError as error:
        show_fault(fault(error, session.planning().target, words), words, key="runs_fault")
        return
    st.dataframe(run_rows(page.runs, words), hide_index=True, key="run_table")
    with st.expander(words("benchmarks.identity"), icon=":material/fingerprint:", key="identity"):
        st.dataframe(configurations.rows(chosen.configuration), hide_index=True, key="identity_table")
        st.code(chosen.configuration.fingerprint, language=None)
