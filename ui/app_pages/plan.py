"""Plan: from a workload to servers."""

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.widgets import plan_page, states
from tonnage_ui.widgets.plan_answer import show_plan
from tonnage_ui.widgets.plan_form import show_form

words = session.words()
st.title(words("plan.title"))
st.caption(words("plan.lead"))
stored = session.stored()
if stored.error is not None:
    states.show_fault(plan_page.outage(stored.error, words), words, key="plan_outage")
if stored.is_empty:
    states.show_empty_store(words)
left, right = st.columns([4, 7], gap="large")
with left:
    show_form(words, stored)
    st.button(words("plan.button"), type="primary", key="plan_button", on_click=plan_page.plan_now, width="stretch")
    answer = plan_page.current_answer()
    plan_page.show_answer_line(answer, words)
with right:
    if answer is None:
        plan_page.show_start(words, stored)
    elif isinstance(answer.outcome, ClientError):
        states.show_fault(plan_page.refusal(answer.outcome, words), words, key="plan_fault")
    else:
        plan_page.show_staleness(answer, stored, words)
        show_plan(answer.request, answer.outcome, words)
