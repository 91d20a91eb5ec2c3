"""The workload form of the Plan page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage_ui.forms import plan as form
from tonnage_ui.forms.configuration import COUNT_FIELDS, TEXT_FIELDS
from tonnage_ui.presenters.curve import latency_name
from tonnage_ui.widgets import fields

if TYPE_CHECKING:
    from tonnage_ui.session import Stored
    from tonnage_ui.words import Words


def show_form(words: Words, stored: Stored) -> None:
    """Show every input; their values stand in the session and in the URL."""
    model = _workload(words, stored)
    _demand(words)
    show_limits(words)
    show_reserve(words)
    with st.expander(words("form.failover_server"), icon=":material/dns:", key="section_server"):
        _failover(words)
        _server(words)
    with st.expander(words("form.configuration"), icon=":material/tune:", key="section_configuration"):
        st.caption(words("form.configuration_text"))
        for field in TEXT_FIELDS:
            fields.pick(field, words, stored.values(field, model))
        for field in COUNT_FIELDS:
            fields.whole(field, words)
        fields.text("fingerprint", words)
    with st.expander(words("form.options"), icon=":material/settings:", key="section_options"):
        fields.choice("policy", words, form.POLICIES, lambda word: words(f"policy.{word}"))
        fields.choice("request_class", words, form.CLASSES, lambda word: words(f"class.{word}"))
        fields.date("as_of", words)


def _workload(words: Words, stored: Stored) -> str:
    with st.container(border=True, key="section_workload"):
        st.markdown(f"**{words('form.workload')}**")
        model = fields.pick("model", words, stored.models, placeholder=words("form.pick_model"))
        size_count = fields.counter("size_count", words, least=1, most=form.MAX_SIZE_COUNT)
        for position, keys in enumerate(form.size_keys(size_count), start=1):
            _size(position, keys, words, several=size_count > 1)
    return model


def _size(position: int, keys: tuple[str, str, str, str], words: Words, *, several: bool) -> None:
    input_key, output_key, hits_key, share_key = keys
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        fields.number(input_key, words, named="input_tokens")
    with right:
        fields.number(output_key, words, named="output_tokens")
    if several:
        fields.number(share_key, words, label=words("field.share_of", position=position))
    with st.expander(words("form.more_size"), type="compact", key=f"section_{hits_key}"):
        fields.number(hits_key, words, named="prefix_hits")


def _demand(words: Words) -> None:
    with st.container(border=True, key="section_demand"):
        st.markdown(f"**{words('form.demand')}**")
        kind = fields.choice("demand_kind", words, form.DEMAND_KINDS, lambda word: words(f"demand.{word}"))
        for key in form.demand_keys(kind):
            if key.endswith("source"):
                fields.text(key, words, placeholder=words(f"placeholder.{key}"))
            else:
                fields.number(key, words)


def show_limits(words: Words) -> None:
    """Show the limits of an SLO; each one that is picked gets its number."""
    with st.container(border=True, key="section_limits"):
        st.markdown(f"**{words('form.limits')}**")
        chosen = fields.some_of(
            "limits",
            words,
            form.LIMITS,
            lambda name: limit_name(name, words),
        )
        for name in chosen:
            fields.number(f"{name}_ms", words, label=words("field.limit_ms", name=limit_name(name, words)))
        with st.expander(words("form.more_limits"), type="compact", key="section_more_limits"):
            fields.number("max_failure_ratio", words)
            fields.number("min_tokens_per_s_per_user", words)
            fields.toggle("allow_substitution", words)


def limit_name(name: str, words: Words) -> str:
    """Return "TTFT p90" for "ttft_p90"."""
    metric, statistic = name.split("_")
    return latency_name(metric, statistic, words)


def show_reserve(words: Words) -> None:
    """Show the ways to state a reserve."""
    with st.container(border=True, key="section_reserve"):
        st.markdown(f"**{words('form.reserve')}**")
        kind = fields.choice(
            "reserve_kind", words, form.RESERVE_KINDS, lambda word: words(f"reserve.{word}"), required=False
        )
        if kind == "whole":
            _part("reserve", words)
        if kind == "parts":
            for name in form.RESERVE_PARTS:
                _part(name, words)


def _part(key: str, words: Words) -> None:
    ratio, source = st.columns([2, 3], vertical_alignment="bottom")
    with ratio:
        fields.number(key, words)
    with source:
        fields.text(f"{key}_source", words, placeholder=words("placeholder.reserve_source"))


def _failover(words: Words) -> None:
    kind = fields.choice("failover_kind", words, form.FAILOVER_KINDS, lambda word: words(f"failover.{word}"))
    if kind in {"replicas", "servers"}:
        fields.whole(f"failover_{kind}", words)
    if kind == "zones":
        fields.whole("zones", words)
        fields.whole("failover_zones", words)


def _server(words: Words) -> None:
    fields.whole("accelerators_per_server", words)
    amount, currency = st.columns([3, 2], vertical_alignment="bottom")
    with amount:
        fields.number("price_per_hour", words)
    with currency:
        fields.text("price_currency", words, placeholder="USD")
    fields.text("price_source", words, placeholder=words("placeholder.price_source"))
    fields.text("price_date", words, placeholder="2026-01-31")
