"""Pools as engines cut them, against counts in start-up logs."""

from __future__ import annotations

import pytest
from builders_memory import gib

from tonnage import catalog
from tonnage.capacity.memory.blocks import CellPool, FlatPool, SeparatePools, SharedPool, shared_pool
from tonnage.capacity.memory.dtypes import cache_format
from tonnage.capacity.memory.layout import Split, layout


def _shared(
    model: str, kind: str = "bf16", *, tensor: int = 1, step: int = 8192, pages: int = 1, new: bool = False
) -> SharedPool:
    kept = layout(catalog.model(model), cache_format(kind), Split(tensor=tensor, pipeline=1))
    return shared_pool(kept, block_tokens=16, step_tokens=step, state_pages=pages, prints_requests=new)


def test_a_flat_pool_holds_whole_blocks_only() -> None:
    pool = FlatPool(token_bytes=131_072, block_tokens=16)
    assert pool.block_bytes == 16 * 131_072
    assert pool.tokens(pool.block_bytes * 3 - 1) == 32
    assert pool.request_bytes(17, steady=False) == 2 * pool.block_bytes
    assert pool.tokens(-5) == 0


def test_window_and_full_layers_of_one_count_share_pages() -> None:
    pool = _shared("openai/gpt-oss-20b")
    assert pool.block_bytes == 393_216
    assert pool.request_blocks(8192, steady=False) == 512 + 513
    size = gib(58.47)
    assert pool.printed_tokens(size, 8192) == pytest.approx(1_277_184, rel=0.001)
    assert pool.usable_bytes(size) / pool.request_bytes(8192, steady=False) == pytest.approx(155.75, rel=0.001)


def test_narrow_full_rows_get_longer_blocks() -> None:
    pool = _shared("google/gemma-4-26B-A4B-it")
    assert pool.block_tokens == 32
    assert pool.printed_tokens(gib(51.62), 131_072) == pytest.approx(451_040, rel=0.001)


def test_two_steps_in_flight_give_the_logged_concurrency() -> None:
    pool = _shared("google/gemma-4-31B-it", step=2 * 8192)
    assert pool.usable_bytes(gib(182.37)) / pool.request_bytes(16_384, steady=False) == pytest.approx(13.25, rel=0.001)
    twelve = _shared("google/gemma-4-12B-it", tensor=2, step=2 * 2048)
    assert twelve.usable_bytes(gib(8.16)) / twelve.request_bytes(131_072, steady=False) == pytest.approx(
        2.93, rel=0.002
    )


def test_the_attention_block_is_stretched_over_a_state() -> None:
    pool = _shared("Qwen/Qwen3.6-27B", "fp8", pages=2)
    assert pool.block_tokens == 1568
    assert pool.printed_tokens(gib(6.67), 32_768) == 53_312
    assert pool.usable_bytes(gib(6.67)) / pool.request_bytes(32_768, steady=False) == pytest.approx(5.15, rel=0.001)


def test_layers_that_attend_and_recur_hold_two_pages() -> None:
    pool = _shared("tiiuae/Falcon-H1-3B-Base", step=2048)
    assert pool.block_tokens == 2080
    assert pool.usable_bytes(gib(5.28)) / pool.request_bytes(2048, steady=False) == pytest.approx(41.5, rel=0.001)


def test_newer_releases_print_requests_times_length() -> None:
    old, new = _shared("openai/gpt-oss-20b"), _shared("openai/gpt-oss-20b", new=True)
    size = gib(58.47)
    blocks = size // new.block_bytes
    assert new.printed_tokens(size, 131_072) == blocks * 131_072 // new.request_blocks(131_072, steady=False)
    assert old.printed_tokens(size, 131_072) != new.printed_tokens(size, 131_072)


def test_a_decoding_request_holds_its_window_only() -> None:
    pool = _shared("google/gemma-4-31B-it")
    assert pool.request_blocks(262_144, steady=True) == 8192 + 5 * 65
    assert pool.request_blocks(262_144, steady=False) == 8192 + 5 * 577


def test_separate_pools_print_the_full_rows() -> None:
    kept = layout(catalog.model("google/gemma-4-E4B-it"), cache_format("bf16"), Split(tensor=1, pipeline=1))
    pool = SeparatePools(groups=kept.groups, block_tokens=1, step_tokens=8192, window_ratio=0.8, state_share=None)
    rate = sum(g.token_bytes * g.layer_count * (0.8 if g.window_tokens else 1) for g in kept.groups)
    assert pool.printed_tokens(gib(10), 4096) == int(gib(10) // rate)


@pytest.mark.parametrize(("step", "logged_gib"), [(2048, 3.0527), (512, 3.0176)])
def test_cells_of_a_window_are_padded_over_the_micro_batch(step: int, logged_gib: float) -> None:
    kept = layout(catalog.model("openai/gpt-oss-20b"), cache_format("fp16"), Split(tensor=1, pipeline=1))
    pool = CellPool(groups=kept.groups, step_tokens=step)
    assert pool.request_bytes(131_072, steady=False) / (1 << 30) == pytest.approx(logged_gib, abs=0.0001)
