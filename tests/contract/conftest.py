"""Fixtures of the contract suites."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from stores import Store

from tonnage.store import open_reader, open_writer
from tonnage.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMESPACES = (f"team-{number}" for number in itertools.count())


@pytest.fixture(scope="module", params=["memory", "lake", "shared"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return one store for the module; tests keep apart by namespace."""
    if request.param == "memory":
        memory = MemoryStore()
        yield Store(memory, memory)
        return
    if request.param == "shared":
        url = request.getfixturevalue("backends").new_url()
    else:
        url = f"lake://{tmp_path_factory.mktemp('lake')}"
    writer = open_writer(url)
    reader = open_reader(url)
    yield Store(writer, reader)
    reader.close()
    writer.close()


@pytest.fixture
def team() -> str:
    """Return a namespace nobody used."""
    return next(_NAMESPACES)
