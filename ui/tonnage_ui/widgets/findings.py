"""Findings with code and remedy, and the evidence under a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage_ui.presenters import findings as presenter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage_ui.messages import pb
    from tonnage_ui.words import Words

_ICONS: Final = {"error": ":material/error:", "warning": ":material/warning:", "info": ":material/info:"}
_OPEN_FROM: Final = {"warning": ("warning", "error"), "error": ("error",), "never": ()}
_COLOURS: Final = {"error": "red", "warning": "orange", "info": "blue"}


def show_findings(findings: Iterable[pb.Finding], words: Words, *, key: str, open_from: str = "warning") -> None:
    """List findings gravest first, each with its code, place and remedy.

    The list is open when one is as grave as ``open_from``: warning, error, or never.
    """
    cards = presenter.cards(findings)
    if not cards:
        st.caption(words("findings.none"))
        return
    opened = any(card.severity in _OPEN_FROM[open_from] for card in cards)
    label = f"{words('findings.title')}: {presenter.tally(cards, words)}"
    with st.expander(label, expanded=opened, key=f"{key}_findings"):
        for card in cards:
            _show_card(card, words)


def _show_card(card: presenter.FindingCard, words: Words) -> None:
    colour = _COLOURS.get(card.severity, "gray")
    icon = _ICONS.get(card.severity, "")
    place = f" · `{card.path}`" if card.path else ""
    st.markdown(f":{colour}[{icon} **{card.code}**]{place}  \n{_plain(card.message)}")
    if card.remedy:
        st.markdown(f"**{words('findings.remedy')}** {_plain(card.remedy)}")
    for message in card.others:
        st.caption(f"{words('findings.also')} {_plain(message)}")
    if card.evidence:
        sources = ", ".join(dict.fromkeys(item.source or item.run for item in card.evidence if item.source or item.run))
        if sources:
            st.caption(f"{words('findings.rests_on')} {sources}")


def show_evidence(evidence: Iterable[pb.Evidence], words: Words, *, key: str) -> None:
    """Show the table of what the numbers rest on."""
    rows = presenter.evidence_rows(evidence, words)
    if rows:
        st.dataframe(rows, hide_index=True, key=f"{key}_evidence", alt=words("evidence.title"))
    else:
        st.caption(words("evidence.none"))


def _plain(message: str) -> str:
    """Return a server's text with Markdown's own signs made harmless."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#$~|:" else sign for sign in message)
