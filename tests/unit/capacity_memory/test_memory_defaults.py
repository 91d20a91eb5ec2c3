"""What fills the gaps of a question, by engine, release and card."""

from __future__ import annotations

import pytest
from builders_memory import a_device, a_question, gib

from tonnage.capacity.memory.defaults import Setup, setup
from tonnage.capacity.memory.overheads import linked
from tonnage.capacity.memory.version import Version, is_v0, parse_version
from tonnage.domain.hardware import Accelerator
from tonnage.errors import InvalidInput


def _filled(**changes: object) -> Setup:
    return setup(a_question(**{"memory_utilization_ratio": None, **changes}))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.19.0", Version(0, 19)),
        ("v0.6.x (V0)", Version(0, 6)),
        ("~0.11 (V1; version not stated)", Version(0, 11)),
        ("gptoss image (0.10.1 dev)", Version(0, 10)),
        ("0.31.1rc1.dev50+g554340f3d", Version(0, 31)),
        ("0.20-ish 2026-05", Version(0, 20)),
        ("main 2024-12 (V0)", Version(0, 6)),
        ("nightly 2026-06", Version(0, 22)),
        ("", None),
        (None, None),
        ("some image", None),
    ],
)
def test_versions_are_read_as_logs_write_them(text: str | None, version: Version | None) -> None:
    assert parse_version(text) == version


def test_the_old_engine_is_told_by_its_mark() -> None:
    assert is_v0("0.9 (V0)")
    assert not is_v0("0.9")


@pytest.mark.parametrize(
    ("total_gib", "device", "version", "sequences", "step"),
    [
        (79.18, "h100-sxm-80gb", "0.19", 1024, 8192),
        (79.25, "a100-sxm-80gb", "0.19", 256, 2048),
        (23.56, "rtx-3090", "0.19", 256, 2048),
        (267.69, "b300-sxm", "0.26", 1024, 16384),
        (267.69, "b300-sxm", "0.19", 1024, 8192),
        (79.18, "h100-sxm-80gb", "0.7", 256, 8192),
    ],
)
def test_sequences_and_step_follow_card_and_release(
    total_gib: float, device: str, version: str, sequences: int, step: int
) -> None:
    found = _filled(device=a_device(total_gib, id=device), engine_version=version)
    assert (found.sequences, found.step_tokens) == (sequences, step)
    assert f"max_num_seqs = {sequences:,}" in found.assumed


def test_the_share_grew_in_newer_releases() -> None:
    assert _filled(engine_version="0.19").utilization == 0.90
    assert _filled(engine_version="0.31").utilization == 0.92


def test_the_old_engine_prefills_whole_prompts_up_to_32k() -> None:
    assert _filled(engine_version="0.6", max_model_len=20_000).chunked is False
    assert _filled(engine_version="0.6", max_model_len=20_000).step_tokens == 20_000
    assert _filled(engine_version="0.6", max_model_len=35_000).chunked is True
    assert _filled(engine_version="0.19", max_model_len=20_000).chunked is True


def test_what_is_stated_is_not_listed_as_assumed() -> None:
    found = setup(a_question(max_num_seqs=7, max_num_batched_tokens=99, kv_cache_type="fp8", weight_precision="bf16"))
    assert (found.sequences, found.step_tokens, found.cache.name) == (7, 99, "fp8")
    assert not [item for item in found.assumed if item.startswith(("max_num", "kv_cache", "weight_"))]


def test_a_card_nobody_logged_is_said() -> None:
    found = _filled(device=Accelerator(id="new", name="New", vendor="", memory_sold_gb=100))
    assert found.total_bytes == round(100e9 * 0.97)
    assert any("nobody logged" in item for item in found.assumed)


def test_a_card_of_unknown_memory_is_refused() -> None:
    with pytest.raises(InvalidInput, match="accelerator"):
        _filled(device=Accelerator(id="new", name="New", vendor=""))


def test_only_the_listing_of_a_card_leaves_the_drivers_share_aside() -> None:
    found = _filled(device=Accelerator(id="x", name="x", vendor="", usable_high_bytes=gib(22.49)))
    assert found.total_bytes == gib(22.49) - gib(0.45)


def test_an_engine_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="engine"):
        _filled(engine="warp-drive")


def test_an_nvfp4_checkpoint_brings_an_8_bit_cache() -> None:
    assert _filled(weight_precision="nvfp4").cache.name == "fp8"


@pytest.mark.parametrize(
    ("device", "fast"),
    [
        ("h100-sxm-80gb", True),
        ("NVIDIA GeForce RTX 3090", False),
        ("rtx-4090", False),
        ("a10g", False),
        ("l40s", False),
    ],
)
def test_cards_without_a_link_are_told_by_any_spelling(device: str, fast: bool) -> None:
    assert linked(device) is fast


@pytest.mark.parametrize("name", ["fp8_e4m3", "float8_e5m2", "FP8-E4M3FN", "fp8"])
def test_eight_bit_floats_of_the_cache_are_one_type(name: str) -> None:
    assert _filled(kv_cache_type=name).cache.name == "fp8"
