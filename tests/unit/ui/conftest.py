"""The front end against a small in-process gRPC server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st
from builders_ui import Services, serve, some_services
from streamlit.testing.v1 import AppTest

from tonnage_ui import session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Return what answers the pages; the environment leads there."""
    services = some_services()
    server, target = serve(services)
    monkeypatch.setenv("TONNAGE_PLANNING", target)
    monkeypatch.setenv("TONNAGE_INGEST", target)
    yield services
    session.planning().close()
    session.ingest().close()
    st.cache_resource.clear()
    server.stop(None).wait()


@pytest.fixture
def open_page(root: Path, services: Services) -> Callable[..., AppTest]:
    """Return what opens a page with an address, as a new browser session does."""
    assert services.calls == []

    def open_(page: str, **address: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(root / "ui" / "app.py"), default_timeout=30)
        app.run()
        app.switch_page(f"app_pages/{page}.py")
        for key, value in address.items():
            app.query_params[key] = value
        app.run()
        assert not app.exception, app.exception
        return app

    return open_
