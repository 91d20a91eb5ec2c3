"""The latency-throughput picture with a choice of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage_ui import session
from tonnage_ui.charts.curve import latency_throughput
from tonnage_ui.presenters import curve as presenter
from tonnage_ui.widgets import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words


def show_curves(
    curves: Sequence[tuple[str, pb.GetCurveResponse]], slo: pb.Slo | None, words: Words, *, key: str
) -> None:
    """Draw one curve, or several over each other, for the latency that is picked."""
    offered = [pair for pair in presenter.measured_statistics(curves[0][1]) if _in_all(pair, curves)]
    if not offered:
        st.info(words("curve.no_latency"), icon=":material/show_chart:")
        return
    names = {f"{metric}_{statistic}": (metric, statistic) for metric, statistic in offered}
    first = presenter.first_shown(offered, slo)
    ordered = ["_".join(first), *(name for name in names if name != "_".join(first))]
    chosen = fields.one_of("shown_latency", words, ordered, lambda name: presenter.latency_name(*names[name], words))
    if chosen is None:
        return
    pictures = [presenter.picture(curve, *names[chosen], words, slo=slo, name=name) for name, curve in curves]
    drawn = [picture for picture in pictures if picture.has_marks]
    if not drawn:
        st.info(words("curve.no_rate"), icon=":material/show_chart:")
        return
    option = latency_throughput(drawn, session.colours(), words)
    st.echarts_chart(option, height=420, key=f"{key}_chart", renderer="svg", alt=presenter.alt(drawn[0], words))
    for picture in pictures:
        if picture.not_drawn_count:
            st.caption(words("curve.not_drawn", count=picture.not_drawn_count, name=picture.name))


def _in_all(pair: tuple[str, str], curves: Sequence[tuple[str, pb.GetCurveResponse]]) -> bool:
    return all(pair in presenter.measured_statistics(curve) for _, curve in curves)
