"""What the Plan page remembers: the answer, what it was an answer to, and whether it still is."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final, cast

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.answers import Answer, ask
from tonnage_ui.forms.example import complete, example_values, question_of
from tonnage_ui.forms.plan import key_of_field, plan_request
from tonnage_ui.messages import pb
from tonnage_ui.presenters.fault import Fault, fault
from tonnage_ui.presenters.plan import answer_line
from tonnage_ui.widgets import link
from tonnage_ui.widgets.states import show_stale

if TYPE_CHECKING:
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words

PlanAnswer = Answer[pb.PlanCapacityRequest, pb.PlanCapacityResponse]

_ANSWER: Final = "plan_answer"
_OPENED: Final = "plan_opened"
_LINK_VERSION: Final = "data_version"
_LINKED: Final = "plan_linked_version"


def plan_now() -> None:
    """Ask for the plan the form describes and fix its date, so that the link opens the same answer."""
    answer = ask(session.planning().plan_capacity, plan_request(session.values()))
    if not isinstance(answer.outcome, ClientError):
        plan = answer.outcome.plan
        answer.request.as_of_date = plan.request.as_of_date
        st.session_state["as_of"] = dt.date.fromisoformat(plan.request.as_of_date)
    st.session_state[_ANSWER] = answer
    st.session_state[_LINKED] = ""


def current_answer() -> PlanAnswer | None:
    """Return the last answer; a link that names a date is answered when it is opened."""
    first_visit = not st.session_state.get(_OPENED)
    st.session_state[_OPENED] = True
    if first_visit and _ANSWER not in st.session_state:
        request = plan_request(session.values())
        if request.as_of_date:
            st.session_state[_ANSWER] = ask(session.planning().plan_capacity, request)
        st.session_state[_LINKED] = link.given(_LINK_VERSION)
    answer = cast("PlanAnswer | None", st.session_state.get(_ANSWER))
    if answer is not None and not isinstance(answer.outcome, ClientError):
        link.keep(_LINK_VERSION, str(answer.outcome.plan.data_version))
    return answer


def show_answer_line(answer: PlanAnswer | None, words: Words) -> None:
    """Show the counts beside the button: on a phone the answer stands below the whole form."""
    if answer is None or isinstance(answer.outcome, ClientError) or not answer.outcome.plan.candidates:
        return
    st.markdown(answer_line(answer.outcome.plan.candidates[0], words))


def show_staleness(answer: PlanAnswer, stored: Stored, words: Words) -> None:
    """Say when the form, the store or the link no longer belong to the answer that is shown."""
    if isinstance(answer.outcome, ClientError):
        return
    if answer.is_stale(plan_request(session.values())):
        show_stale(words("stale.inputs"))
    version = answer.outcome.plan.data_version
    if stored.error is None and stored.data_version > version:
        show_stale(words("stale.data", answer=version, store=stored.data_version))
    linked = st.session_state.get(_LINKED)
    if linked and linked != str(version):
        show_stale(words("stale.link", link=linked, answer=version))


def show_start(words: Words, stored: Stored) -> None:
    """Say what to do before there is an answer, with an example from what is stored."""
    with st.container(border=True, key="plan_start"):
        st.subheader(words("start.title"))
        st.markdown(words("start.text"))
        if complete(stored.configurations) is not None:
            st.button(words("start.example"), key="example_button", icon=":material/lightbulb:", on_click=_fill_example)
            st.caption(words("start.example_text"))


def _fill_example() -> None:
    summary = complete(session.stored().configurations)
    if summary is None:
        return
    curve = ask(session.planning().get_curve, question_of(summary))
    if isinstance(curve.outcome, ClientError):
        st.session_state[_ANSWER] = Answer(plan_request(session.values()), curve.outcome)
        return
    st.session_state.update(example_values(summary, curve.outcome, session.words()("start.example_source")))
    plan_now()


def outage(error: ClientError, words: Words) -> Fault:
    """Return why what is stored could not be listed."""
    return fault(error, session.planning().target, words)


def refusal(error: ClientError, words: Words) -> Fault:
    """Return what the planning server refused, by the form's own labels."""
    return fault(error, session.planning().target, words, key_of_field)
