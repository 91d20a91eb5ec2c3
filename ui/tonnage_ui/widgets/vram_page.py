"""The answer of the VRAM page: verdict, ledger, map, ways out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.answers import ask
from tonnage_ui.charts import memory as charts
from tonnage_ui.forms import vram as form
from tonnage_ui.forms.command import vram_command
from tonnage_ui.messages import pb
from tonnage_ui.presenters import memory as presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.reproduce import Call
from tonnage_ui.widgets.figures import show_figures, show_headline
from tonnage_ui.widgets.findings import show_findings
from tonnage_ui.widgets.reproduce import show_reproduce
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from tonnage_ui.words import Words


def show_answer(config_json: bytes | None, words: Words) -> None:
    """Ask and show, once a model and an accelerator are named."""
    question = form.vram_question(session.values(), config_json)
    if question.WhichOneof("model_source") is None or question.WhichOneof("device") is None:
        st.info(words("vram.start"), icon=":material/memory:")
        return
    answer = ask(session.planning().fit_vram, pb.FitVramRequest(question=question))
    if isinstance(answer.outcome, ClientError):
        shown = fault(answer.outcome, session.planning().target, words, form.key_of_field)
        show_fault(shown, words, key="vram_fault")
        return
    _show_fit(answer.request, answer.outcome, words)


def _show_fit(request: pb.FitVramRequest, reply: pb.FitVramResponse, words: Words) -> None:
    fit = reply.fit
    show_headline(presenter.headline(fit, words), key="vram_headline")
    show_figures(presenter.figures(fit, words), key="vram_figures")
    st.subheader(words("vram.ledger"))
    ledger = presenter.ledger(fit, words)
    st.caption(words("vram.rank", rank=fit.rank))
    st.echarts_chart(
        charts.ledger(ledger, session.colours(), words), height=260, key="vram_ledger", alt=words("vram.ledger_alt")
    )
    st.code(fit.equation, language=None, wrap_lines=True)
    if fit.remedies:
        st.subheader(words("vram.remedies"))
        st.dataframe(presenter.remedy_rows(fit, words), hide_index=True, key="vram_remedies")
    show_findings(fit.findings, words, key="vram")
    if fit.assumed:
        st.caption(words("plan.assumed", fields=", ".join(fit.assumed)))
    _show_map(request.question, words)
    terms, cache = st.tabs([words("vram.terms"), words("vram.cache")], key="vram_tabs")
    terms.dataframe(presenter.term_rows(fit, words), hide_index=True, key="vram_terms")
    cache.dataframe(presenter.cache_rows(fit, words), hide_index=True, key="vram_cache")
    command = Call("PlanningService/FitVram", session.planning().target, vram_command(request.question))
    show_reproduce(request, reply, command, words, key="vram")


def _show_map(question: pb.MemoryQuestion, words: Words) -> None:
    if not question.HasField("request_tokens"):
        st.caption(words("vram.map_needs_length"))
        return
    lengths, wanted = form.map_axes(question.request_tokens, question.concurrency or 1)
    fits = []
    for cell in form.map_questions(question, lengths, wanted):
        try:
            fits.append(session.planning().fit_vram(pb.FitVramRequest(question=cell)).fit)
        except ClientError as error:
            st.caption(words("vram.map_refused", message=error.message))
            return
    st.subheader(words("vram.map"))
    shown = presenter.fit_map(lengths, wanted, fits, words)
    st.echarts_chart(
        charts.fit_map(shown, session.colours(), words), height=320, key="vram_map", alt=words("vram.map_alt")
    )
