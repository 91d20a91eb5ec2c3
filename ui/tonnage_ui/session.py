"""What a browser session shares: clients from the environment, the language, the theme, what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import streamlit as st

from tonnage.client import ClientError, IngestClient, PlanningClient
from tonnage_ui.charts.palette import Palette, palette
from tonnage_ui.messages import pb
from tonnage_ui.words import LANGUAGES, Words, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGE_KEY: Final = "lang"
_PAGE_SIZE: Final = 1000
_CONFIGURATION_LIMIT: Final = 5000


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store holds, as far as a form needs it; ``error`` is set when nobody answered."""

    configurations: tuple[pb.ConfigurationSummary, ...] = ()
    total_count: int = 0
    data_version: int = 0
    error: ClientError | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether the service answered that nothing is stored."""
        return self.error is None and not self.configurations

    @property
    def models(self) -> list[str]:
        """Return the models that were measured, by id."""
        return sorted({summary.configuration.model for summary in self.configurations if summary.configuration.model})

    def values(self, field: str, model: str) -> list[str]:
        """Return the values of a text field among the configurations of a model (all, for an empty one)."""
        found = {
            str(getattr(summary.configuration, field))
            for summary in self.configurations
            if model in ("", summary.configuration.model)
        }
        return sorted(value for value in found if value)


@st.cache_resource(show_spinner=False)
def planning() -> PlanningClient:
    """Return the client of the planning server; target, token and TLS come from the environment."""
    return PlanningClient()


@st.cache_resource(show_spinner=False)
def ingest() -> IngestClient:
    """Return the client of the ingest server."""
    return IngestClient()


def stored() -> Stored:
    """Return what the planning server holds now; read again only when its data version has moved."""
    try:
        probe = planning().list_configurations(pb.ListConfigurationsRequest(page_size=1))
        found = _configurations(probe.data_version)
    except ClientError as error:
        return Stored(error=error)
    return Stored(found, probe.total_count, probe.data_version)


@st.cache_resource(show_spinner=False, max_entries=4)
def _configurations(data_version: int) -> tuple[pb.ConfigurationSummary, ...]:
    request = pb.ListConfigurationsRequest(page_size=_PAGE_SIZE, min_data_version=data_version)
    return tuple(islice(planning().configurations(request), _CONFIGURATION_LIMIT))


@st.cache_resource(show_spinner=False)
def catalog_models() -> tuple[str, ...]:
    """Return the ids of the models whose shape is known; raise ``ClientError``."""
    return tuple(model.id for model in planning().models(pb.ListModelsRequest(page_size=_PAGE_SIZE)))


@st.cache_resource(show_spinner=False)
def catalog_accelerators() -> dict[str, str]:
    """Return the names of the accelerators that are known, by id; raise ``ClientError``."""
    request = pb.ListAcceleratorsRequest(page_size=_PAGE_SIZE)
    return {accelerator.id: accelerator.name for accelerator in planning().accelerators(request)}


def language() -> str:
    """Return the chosen language, else the browser's where we speak it, else English."""
    chosen = st.session_state.get(LANGUAGE_KEY) or st.query_params.get(LANGUAGE_KEY)
    return str(chosen) if chosen in LANGUAGES else browser_language()


def browser_language() -> str:
    """Return the browser's language where we speak it, else English."""
    browser = (st.context.locale or "").split("-")[0]
    return browser if browser in LANGUAGES else "en"


def words() -> Words:
    """Return the texts of the session's language."""
    return words_of(language())


def colours() -> Palette:
    """Return the colours for the browser's background."""
    return palette(st.context.theme.type)


def values() -> Mapping[str, object]:
    """Return what the widgets hold, by key."""
    return {str(key): value for key, value in st.session_state.items()}
