"""Curves held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import a_configuration
from builders_planning import MODEL, a_ladder, stored

from tonnage.domain.configuration import Configuration
from tonnage.errors import AmbiguousName, InvalidInput, NotStored
from tonnage.planning.usecase.book import CurveBook, matching
from tonnage.planning.usecase.lookup import only_one
from tonnage.planning.usecase.names import normalized
from tonnage.store.memory import MemorySnapshot, MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.store.base import ConfigurationFacts, Sweep


class KeptSnapshot(MemorySnapshot):
    """A snapshot that hands out the same sweeps again, as a replica does."""

    def __init__(self, snapshot: MemorySnapshot) -> None:
        self.data_version = snapshot.data_version
        self._inner = snapshot
        self._kept: dict[tuple[str, str], Sequence[Sweep]] = {}

    def configurations(self, namespace: str) -> Sequence[ConfigurationFacts]:
        """Return the configurations."""
        return self._inner.configurations(namespace)

    def sweeps(self, namespace: str, fingerprint: str) -> Sequence[Sweep]:
        """Return the sweeps made at the first time."""
        key = (namespace, fingerprint)
        if key not in self._kept:
            self._kept[key] = self._inner.sweeps(namespace, fingerprint)
        return self._kept[key]


def a_snapshot(*engines: str) -> KeptSnapshot:
    """Return a snapshot with a ladder of each engine."""
    store = MemoryStore()
    stored(store, *(a_ladder(configuration=a_configuration(engine=engine)) for engine in engines))
    return KeptSnapshot(store.snapshot)


def test_a_curve_is_made_once_for_the_same_sweeps() -> None:
    book, snapshot = CurveBook(), a_snapshot("vllm")
    (facts,) = book.of_model(snapshot, "default", MODEL)
    first = book.held(snapshot, "default", facts)
    assert book.held(snapshot, "default", facts) is first
    assert book.held(a_snapshot("vllm"), "default", facts) is not first


def test_planning_is_light_only_when_few_curves_are_all_there() -> None:
    book, snapshot = CurveBook(), a_snapshot("vllm", "sglang")
    facts = book.of_model(snapshot, "default", MODEL)
    assert not book.is_light("default", facts, 4)
    for item in facts:
        book.held(snapshot, "default", item)
    assert book.is_light("default", facts, 4)
    assert not book.is_light("default", facts, 1)


def test_the_least_recently_used_curve_is_given_up() -> None:
    book, snapshot = CurveBook(most_held=1), a_snapshot("vllm", "sglang")
    facts = book.of_model(snapshot, "default", MODEL)
    for item in facts:
        book.held(snapshot, "default", item)
    assert not book.is_light("default", facts[:1], 4)
    assert book.is_light("default", facts[1:], 4)


def test_a_selector_matches_what_differs_in_nothing_it_states() -> None:
    book, snapshot = CurveBook(), a_snapshot("vllm", "sglang")
    facts = book.of_model(snapshot, "default", MODEL)
    assert len(matching(facts, Configuration(), None)) == 2
    assert [item.configuration.engine for item in matching(facts, Configuration(engine="vllm"), None)] == ["vllm"]
    assert len(matching(facts, Configuration(), facts[0].fingerprint)) == 1
    assert not matching(facts, Configuration(kv_cache_type="fp8"), None)


def test_one_configuration_is_asked_for_by_what_tells_the_others_apart() -> None:
    book, snapshot = CurveBook(), a_snapshot("vllm", "sglang")
    found = only_one(snapshot, book, "default", Configuration(engine="vllm"), None)
    assert found.curves.configuration.engine == "vllm"
    with pytest.raises(InvalidInput, match="engine"):
        only_one(snapshot, book, "default", Configuration(model=MODEL), None)
    with pytest.raises(NotStored):
        only_one(snapshot, book, "default", Configuration(engine="tgi"), None)


def test_names_are_brought_to_one_spelling_and_unknown_cards_keep_theirs() -> None:
    stated = Configuration(
        model="llama-3.1-8b-instruct", accelerator="H100-SXM5-80GB", engine="vLLM", weight_precision="bfloat16"
    )
    assert normalized(stated) == Configuration(
        model=MODEL, accelerator="h100-sxm-80gb", engine="vllm", weight_precision="bf16"
    )
    assert normalized(Configuration(accelerator="CMP 170HX")).accelerator == "CMP 170HX"
    with pytest.raises(AmbiguousName) as refused:
        normalized(Configuration(accelerator="H100"))
    assert refused.value.violations[0].path == "accelerator"
