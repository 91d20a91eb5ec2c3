"""Both languages are complete, and nothing asks for a text nobody wrote."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

import pytest

from tonnage.client import messages as pb
from tonnage_ui.forms import plan, upload, vram
from tonnage_ui.words import LANGUAGES, words_of

if TYPE_CHECKING:
    from pathlib import Path

ENUMS = {
    "bottleneck": "Bottleneck",
    "origin": "Origin",
    "state": "TestState",
    "arrival": "ArrivalKind",
    "bound": "CapacityBound",
    "verdict": "PlanVerdict",
    "fit": "FitVerdict",
    "term": "MemoryTermKind",
    "depth": "Depth",
}


def _slots(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_chinese_has_every_english_text_and_no_other() -> None:
    assert set(words_of("zh").texts) == set(words_of("en").texts)


def test_a_text_takes_the_same_values_in_both_languages() -> None:
    english, chinese = words_of("en").texts, words_of("zh").texts
    assert [key for key in english if _slots(english[key]) != _slots(chinese[key])] == []


def test_sentences_are_translated() -> None:
    english, chinese = words_of("en").texts, words_of("zh").texts
    copied = [key for key, text in english.items() if " " in text and chinese[key] == text]
    assert copied == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_the_code_names_is_written(root: Path, language: str) -> None:
    texts = words_of(language).texts
    called = re.compile(r"\bwords\(\s*\"([a-z0-9_.]+)\"")
    named = {key for file in (root / "ui").rglob("*.py") for key in called.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 100
    assert named - set(texts) == set()


@pytest.mark.parametrize(("group", "enum"), ENUMS.items())
def test_every_word_a_server_may_send_has_a_text(group: str, enum: str) -> None:
    described = getattr(pb, enum).DESCRIPTOR
    prefix = described.values_by_number[0].name.removesuffix("UNSPECIFIED")
    words = [value.name.removeprefix(prefix).lower() for value in described.values]
    assert [word for word in words if not words_of("en").has(f"{group}.{word}")] == []


def test_every_widget_has_a_label() -> None:
    keys = [key for kind in plan.DEMAND_KINDS for key in plan.demand_keys(kind)]
    keys += [*plan.RESERVE_PARTS, *upload.GIVEN, *vram.COUNTS, *(f"declared_{name}" for name in vram.DECLARED)]
    assert [key for key in keys if not words_of("en").has(f"field.{key}")] == []


def test_a_key_nobody_wrote_is_an_error() -> None:
    with pytest.raises(KeyError):
        words_of("en")("plan.no_such_text")


def test_a_word_of_a_newer_server_is_shown_as_it_is() -> None:
    assert words_of("en").known("origin", "guessed") == "guessed"
