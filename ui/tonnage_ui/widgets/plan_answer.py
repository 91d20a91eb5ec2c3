"""The answer of the Plan page: verdict, counts, curve, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.answers import ask
from tonnage_ui.forms.command import plan_command
from tonnage_ui.messages import pb
from tonnage_ui.presenters import configuration as configurations
from tonnage_ui.presenters import curve as curve_presenter
from tonnage_ui.presenters import plan as presenter
from tonnage_ui.presenters.fault import fault
from tonnage_ui.presenters.reproduce import Call
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.curve import show_curves
from tonnage_ui.widgets.figures import show_figures, show_headline
from tonnage_ui.widgets.findings import show_evidence, show_findings
from tonnage_ui.widgets.reproduce import show_reproduce
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from typing import Literal

    from tonnage_ui.words import Words

_BADGE_COLOURS: Final[dict[str, Literal["green", "orange", "gray"]]] = {
    "firm": "green",
    "weak": "orange",
    "plain": "gray",
}


def show_plan(request: pb.PlanCapacityRequest, reply: pb.PlanCapacityResponse, words: Words) -> None:
    """Show the whole answer, best candidate first."""
    plan = reply.plan
    show_headline(presenter.headline(plan, words), key="plan_headline")
    candidate = _pick_candidate(plan, words)
    if candidate is not None:
        _show_certainty(candidate, plan, words)
        show_figures(presenter.count_figures(candidate, words), key="plan_counts")
        show_figures(presenter.rate_figures(candidate, plan, words), key="plan_rates")
        st.code(candidate.count.equation, language=None, wrap_lines=True)
    show_findings(presenter.all_findings(plan, candidate), words, key="plan")
    if candidate is not None:
        _show_curves(candidate, plan, words)
    _show_details(plan, candidate, words)
    command = Call("PlanningService/PlanCapacity", session.planning().target, plan_command(request))
    show_reproduce(request, reply, command, words, key="plan")
    st.caption(
        words(
            "plan.stamp",
            version=plan.data_version,
            release=plan.release,
            plan_id=plan.plan_id,
            date=plan.request.as_of_date,
        )
    )


def _show_certainty(candidate: pb.Candidate, plan: pb.Plan, words: Words) -> None:
    with st.container(horizontal=True, key="plan_certainty"):
        for badge in presenter.certainty(candidate, plan, words):
            st.badge(badge.text, color=_BADGE_COLOURS[badge.tone], help=badge.help)


def _pick_candidate(plan: pb.Plan, words: Words) -> pb.Candidate | None:
    if not plan.candidates:
        return None
    if len(plan.candidates) == 1:
        st.caption(configurations.title(plan.candidates[0].configuration))
        return plan.candidates[0]
    position = fields.one_of(
        "candidate",
        words,
        range(len(plan.candidates)),
        lambda index: f"{index + 1}. {configurations.title(plan.candidates[index].configuration)}",
    )
    return None if position is None else plan.candidates[position]


def _show_curves(candidate: pb.Candidate, plan: pb.Plan, words: Words) -> None:
    slo = plan.request.workload.slo
    bucket = _pick_bucket(candidate, words)
    answer = ask(
        session.planning().get_curve,
        pb.GetCurveRequest(
            configuration=pb.Configuration(fingerprint=candidate.configuration.fingerprint),
            work=bucket.measured_work,
            slo=slo,
            policy=plan.request.policy,
        ),
    )
    st.subheader(words("plan.curve_title"))
    st.caption(curve_presenter.capacity_text(bucket.capacity, words))
    if isinstance(answer.outcome, ClientError):
        show_fault(fault(answer.outcome, session.planning().target, words), words, key="curve_fault")
        return
    show_curves([("", answer.outcome)], slo, words, key="plan_curve")
    with st.expander(words("plan.points"), icon=":material/table_rows:", key="plan_points"):
        st.dataframe(curve_presenter.point_rows(answer.outcome, words), hide_index=True, key="plan_point_table")


def _pick_bucket(candidate: pb.Candidate, words: Words) -> pb.BucketCapacity:
    if len(candidate.buckets) == 1:
        return candidate.buckets[0]
    position = fields.one_of(
        "bucket",
        words,
        range(len(candidate.buckets)),
        lambda index: configurations.size(candidate.buckets[index].work),
    )
    return candidate.buckets[position or 0]


def _show_details(plan: pb.Plan, candidate: pb.Candidate | None, words: Words) -> None:
    names = [words("plan.evidence")] if candidate is not None else []
    names += [words("plan.arithmetic"), words("plan.candidates", count=len(plan.candidates))]
    names += [words("plan.rejections", count=len(plan.rejections))]
    tabs = dict(zip(names, st.tabs(names, key="plan_tabs"), strict=True))
    if candidate is not None:
        with tabs[words("plan.evidence")]:
            show_evidence(presenter.all_evidence(candidate), words, key="plan")
    with tabs[words("plan.arithmetic")]:
        _show_arithmetic(plan, candidate, words)
    with tabs[words("plan.candidates", count=len(plan.candidates))]:
        _table(presenter.candidate_rows(plan, words), words("plan.no_candidates"), "plan_candidates")
    with tabs[words("plan.rejections", count=len(plan.rejections))]:
        _table(presenter.rejection_rows(plan, words), words("plan.no_rejections"), "plan_rejections")


def _show_arithmetic(plan: pb.Plan, candidate: pb.Candidate | None, words: Words) -> None:
    st.code(plan.demand.equation, language=None, wrap_lines=True)
    if candidate is not None:
        st.dataframe(presenter.bucket_rows(candidate, words), hide_index=True, key="plan_buckets")
        if candidate.assumed_fields:
            st.caption(words("plan.assumed", fields=", ".join(candidate.assumed_fields)))
        left, right = st.columns(2)
        with left:
            _table(presenter.reserve_rows(candidate, words), words("plan.no_reserve"), "plan_reserve")
        right.dataframe(presenter.headroom_rows(candidate, words), hide_index=True, key="plan_headroom")
    st.dataframe(presenter.token_rows(plan, words), hide_index=True, key="plan_tokens")


def _table(rows: list[dict[str, str]], nothing: str, key: str) -> None:
    if rows:
        st.dataframe(rows, hide_index=True, key=key)
    else:
        st.caption(nothing)
