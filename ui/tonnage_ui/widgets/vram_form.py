"""The question of the VRAM page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tonnage.client import ClientError
from tonnage_ui import session
from tonnage_ui.forms import vram as form
from tonnage_ui.presenters.fault import fault
from tonnage_ui.widgets import fields
from tonnage_ui.widgets.states import show_fault

if TYPE_CHECKING:
    from tonnage_ui.words import Words


def show_form(words: Words) -> bytes | None:
    """Show every input; return the ``config.json`` that was dropped, if any."""
    config_json = _model(words)
    with st.container(border=True, key="vram_section_load"):
        st.markdown(f"**{words('vram.load')}**")
        fields.whole("request_tokens", words)
        fields.whole("concurrency", words)
    with st.expander(words("vram.engine_limits"), icon=":material/tune:", key="vram_section_limits"):
        fields.text("engine_version", words)
        fields.text("weight_precision", words, placeholder=words("placeholder.weight_precision"))
        fields.text("kv_cache_type", words, placeholder=words("placeholder.kv_cache_type"))
        fields.number("memory_utilization", words)
        for field in ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_tokens"):
            fields.whole(field, words)
        for field in ("chunked_prefill", "eager"):
            fields.choice(field, words, form.SWITCHES, lambda word: words(f"switch.{word}"))
    with st.expander(words("vram.declared"), icon=":material/edit:", key="vram_section_declared"):
        st.caption(words("vram.declared_text"))
        for name in form.DECLARED:
            fields.number(f"declared_{name}", words)
        fields.number("bytes_per_parameter", words)
    return config_json


def _model(words: Words) -> bytes | None:
    models, accelerators = _catalog(words)
    with st.container(border=True, key="vram_section_model"):
        st.markdown(f"**{words('vram.what')}**")
        fields.pick("model", words, models, placeholder=words("form.pick_model"))
        with st.expander(words("vram.own_model"), type="compact", key="vram_section_config"):
            dropped = st.file_uploader(words("field.config_json"), type="json", key="config_json")
        fields.pick("accelerator", words, list(accelerators), placeholder=words("form.pick_accelerator"))
        fields.whole("accelerator_count", words)
        fields.pick("engine", words, form.ENGINES)
        left, right = st.columns(2)
        for column, name in ((left, "tensor"), (right, "pipeline"), (left, "expert"), (right, "data")):
            with column:
                fields.whole(f"{name}_parallel", words)
    return None if dropped is None else dropped.getvalue()


def _catalog(words: Words) -> tuple[tuple[str, ...], dict[str, str]]:
    try:
        return session.catalog_models(), session.catalog_accelerators()
    except ClientError as error:
        show_fault(fault(error, session.planning().target, words), words, key="vram_catalog_fault")
        return (), {}
