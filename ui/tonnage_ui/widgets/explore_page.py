"""The Explore page: what is varied, the points as they come, and the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import numbers, session
from tonnage_ui.charts.explore import what_if as chart
from tonnage_ui.forms import explore as form
from tonnage_ui.forms.command import explore_command
from tonnage_ui.forms.plan import LIMITS, key_of_field
from tonnage_ui.presenters import explore as presenter
from tonnage_ui.presenters.curve import latency_name
from tonnage_ui.presenters.fault import fault
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.states import show_fault, show_stale

if TYPE_CHECKING:
    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words

_POINTS: Final = "explore_points"
_REQUEST: Final = "explore_request"
_OPENED: Final = "explore_opened"
_COUNTS: Final = (2, 100)


def show_axes(words: Words) -> None:
    """Show what is varied."""
    with st.container(border=True, key="section_axes"):
        st.markdown(f"**{words('explore.axes')}**")
        fields.one_of("vary", words, form.VARIED, lambda name: _name(name, words), placeholder=words("explore.pick"))
        left, right = st.columns(2)
        with left:
            fields.number("vary_low", words)
        with right:
            fields.number("vary_high", words)
        fields.counter("vary_count", words, least=_COUNTS[0], most=_COUNTS[1])
        fields.toggle("vary_geometric", words)
        fields.one_of(
            "lines", words, form.VARIED, lambda name: _name(name, words), placeholder=words("explore.no_lines")
        )
        if st.session_state.get("lines"):
            fields.text("lines_values", words, placeholder="200, 500, 1000")


def show_answer(words: Words, *, asked: bool) -> None:
    """Ask when the button was pressed or a link was opened, and show what came."""
    first_visit = not st.session_state.get(_OPENED)
    st.session_state[_OPENED] = True
    unread = form.not_numbers(session.values())
    if unread:
        st.warning(words("explore.not_numbers", parts=", ".join(unread)))
        return
    if asked or (first_visit and form.is_askable(session.values())):
        _ask(words)
    points = cast("list[pb.ExplorePlansResponse] | ClientError | None", st.session_state.get(_POINTS))
    if points is None:
        st.info(words("explore.start"), icon=":material/travel_explore:")
    elif isinstance(points, ClientError):
        shown = fault(points, session.planning().target, words, lambda path: key_of_field(path.removeprefix("base.")))
        show_fault(shown, words, key="explore_fault")
    else:
        _show(points, st.session_state[_REQUEST], words)


def _ask(words: Words) -> None:
    request = form.explore_request(session.values())
    progress = st.progress(0.0, words("explore.running"))
    points: list[pb.ExplorePlansResponse] = []
    try:
        for point in session.planning().explore_plans(request):
            points.append(point)
            progress.progress(len(points) / point.total_count, words("explore.running"))
    except ClientError as error:
        st.session_state[_POINTS] = error
    else:
        st.session_state[_POINTS] = points
    finally:
        progress.empty()
    st.session_state[_REQUEST] = request


def _show(points: list[pb.ExplorePlansResponse], request: pb.ExplorePlansRequest, words: Words) -> None:
    if form.explore_request(session.values()) != request:
        show_stale(words("stale.inputs"))
    names = [_axis_name(axis, words) for axis in request.axes]
    shown = fields.choice("explored", words, presenter.SHOWN, lambda name: words(f"explore_shown.{name}"))
    lines = form.name_of(request.axes[-1])
    picture = presenter.what_if(points, names[0], lambda value: _line_name(lines, value, words), shown, words)
    option = chart(picture, session.colours(), log_axis=request.axes[0].span.geometric)
    alt = words("explore.alt", shown=picture.shown, varied=picture.varied, count=len(points))
    st.echarts_chart(option, height=420, key="explore_chart", renderer="svg", alt=alt)
    unserved = presenter.unserved_count(points)
    if unserved:
        st.caption(words("explore.unserved", count=unserved))
    st.dataframe(presenter.rows(points, names, words), hide_index=True, key="explore_table")
    with st.expander(words("reproduce.title"), icon=":material/terminal:", key="explore_reproduce"):
        st.code(explore_command(request), language="shell", wrap_lines=True)


def _axis_name(axis: pb.ExploreAxis, words: Words) -> str:
    return _name(form.name_of(axis), words)


def _line_name(name: str, value: float, words: Words) -> str:
    limit = name.removesuffix("_ms")
    if limit in LIMITS:
        metric, statistic = limit.split("_")
        return f"{latency_name(metric, statistic, words)} ≤ {numbers.number(value, words('unit.ms'))}"
    return f"{words(f'varied.{name}')}: {numbers.number(value)}"


def _name(name: str, words: Words) -> str:
    limit = name.removesuffix("_ms")
    if limit in LIMITS:
        metric, statistic = limit.split("_")
        return f"{latency_name(metric, statistic, words)} ≤, {words('unit.ms')}"
    return words(f"varied.{name}")
