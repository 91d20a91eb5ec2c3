"""What stands beside the model itself: adapters, drafts, towers, prefill states, wide scales, SGLang's own share."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders_memory import GIB, a_device, a_question, a_shape, gib

from tonnage import catalog
from tonnage.capacity.memory import fit
from tonnage.capacity.memory.calibrate import Observation, calibrate
from tonnage.capacity.memory.core import evaluate
from tonnage.capacity.memory.sglang import default_fraction, default_step
from tonnage.capacity.memory.towers import encoder_bytes
from tonnage.domain.memory import MemoryTermKind, WeightInventory
from tonnage.errors import InvalidInput


def _weights(**changes: object) -> int:
    return evaluate(a_question(**changes)).ledger.weights.bytes


def test_adapter_slots_take_rank_times_both_widths_of_every_linear_layer() -> None:
    widths = 7 * 4096 + 2 * (32 + 8) * 128 + 3 * 14336
    assert _weights(lora_slot_count=4, lora_rank=16) - _weights() == 4 * 16 * widths * 32 * 2
    halved = 7 * 4096 + (2 * (32 + 8) * 128 + 3 * 14336) / 2
    split = _weights(lora_slot_count=4, lora_rank=16, tensor_parallel=2) - _weights(tensor_parallel=2)
    assert split == 4 * 16 * halved * 32 * 2


def test_adapters_of_layers_nobody_priced_are_refused_by_field() -> None:
    shape = catalog.model("deepseek-ai/DeepSeek-V3")
    with pytest.raises(InvalidInput, match="lora_rank"):
        fit(a_question(shape=shape, tensor_parallel=8, lora_slot_count=1, lora_rank=8))


@pytest.mark.parametrize(
    ("changes", "field"), [({"lora_rank": 8}, "lora_slot_count"), ({"lora_slot_count": 2}, "rank")]
)
def test_half_a_statement_about_adapters_names_the_other_half(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        a_question(**changes)


def test_a_draft_model_is_a_named_part_of_the_weights() -> None:
    found = fit(a_question(draft_weights_bytes=gib(1.5)))
    (weights,) = [term for term in found.terms if term.kind is MemoryTermKind.WEIGHTS]
    assert {part.name: part.bytes for part in weights.parts}["draft model"] == gib(1.5)
    assert weights.bytes == pytest.approx(_weights() + gib(1.5), abs=2)


def test_a_tower_that_is_off_is_not_loaded_and_needs_no_room() -> None:
    shape = catalog.model("Qwen/Qwen3.6-27B")
    on, off = a_question(shape=shape, max_num_seqs=4), a_question(shape=shape, max_num_seqs=4, language_only=True)
    assert shape.tower is not None
    tower = 2 * shape.tower.parameter_count
    assert evaluate(on).ledger.weights.bytes - evaluate(off).ledger.weights.bytes == pytest.approx(tower, abs=2)
    assert encoder_bytes(evaluate(off).setup) == 0
    assert encoder_bytes(evaluate(on).setup) > GIB
    assert "ENCODER_NOT_IN_SUM" in {item.code for item in fit(on).findings}
    assert "ENCODER_NOT_IN_SUM" not in {item.code for item in fit(off).findings}


def test_towers_of_an_inventory_are_left_out_when_they_are_off() -> None:
    tensors = WeightInventory(total_bytes=gib(16), embedding_bytes=gib(2), tower_bytes=gib(1))
    assert _weights(inventory=tensors) - _weights(inventory=tensors, language_only=True) == gib(1)


def test_the_encoder_widens_the_activation_without_moving_its_figure() -> None:
    shape = catalog.model("Qwen/Qwen3.6-27B")
    seen, blind = (
        evaluate(a_question(shape=shape, max_num_seqs=4, language_only=off)).ledger.activation for off in (False, True)
    )
    assert seen.bytes == blind.bytes
    assert seen.high_bytes > blind.high_bytes


def test_a_recurrent_layer_counts_among_those_a_prefill_step_needs() -> None:
    shape = catalog.model("tiiuae/Falcon-H1-3B-Base")
    state = shape.state
    assert state is not None
    assert state.chunk_tokens == 256
    step = 8192
    rows = 4 * step * state.conv_channels * 2
    ends = 2 * (step // 256) * state.ssm_elements * 4
    asked = a_question(shape=replace(shape, vocabulary_size=None), max_num_batched_tokens=step)
    assert evaluate(asked).ledger.activation.bytes == rows + ends


@pytest.mark.parametrize(("architecture", "factor"), [("Hopper", (5 / 8) / (17 / 32)), ("Blackwell", 1.0)])
def test_sglang_widens_the_scales_of_4_bit_experts_where_the_card_cannot_use_them(
    architecture: str, factor: float
) -> None:
    shape = catalog.model("deepseek-ai/DeepSeek-V4-Pro")
    asked = a_question(shape=shape, tensor_parallel=8, device=a_device(139.8, architecture=architecture))
    sizes = []
    for engine in ("vllm", "sglang"):
        rank = evaluate(replace(asked, engine=engine, engine_version=None)).ledger.rank
        assert rank is not None
        sizes.append(dict(rank.parts)["experts"])
    assert sizes[1] / sizes[0] == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(
    ("total_gib", "tensor", "outside_mib"),
    [(22, 1, 512 + 1.5 * 4096 + 128 + 96), (79.18, 1, 512 + 1.5 * 8192 + 128 + 512), (44, 4, 512 + 6144 + 512 + 320)],
)
def test_sglang_keeps_steps_graphs_and_ranks_outside_its_share(
    total_gib: float, tensor: int, outside_mib: float
) -> None:
    total = gib(total_gib)
    asked = a_question(engine="sglang", tensor_parallel=tensor)
    assert default_fraction(asked, total) == pytest.approx(1 - outside_mib * (1 << 20) / total, abs=6e-4)


def test_sglang_keeps_at_least_ten_gib_outside_on_a_large_card() -> None:
    asked = a_question(engine="sglang")
    assert default_step(gib(79.18)) == 8192
    assert default_fraction(asked, gib(79.18)) <= 1 - 10 / 79.18
    towered = a_question(engine="sglang", shape=catalog.model("Qwen/Qwen3.6-27B"))
    assert default_fraction(towered, gib(95)) == pytest.approx(0.91 * default_fraction(asked, gib(95)), rel=0.01)


def test_a_card_too_small_for_sglangs_rule_gets_a_share_that_fits_nothing() -> None:
    found = fit(a_question(engine="sglang", device=a_device(2), memory_utilization_ratio=None))
    assert found.verdict.value == "does-not-fit"


def test_one_log_pulls_its_class_halfway_to_the_neighbour() -> None:
    neighbour = [Observation(constant="runtime_pair_new", value=value) for value in (2.0, 2.0)]
    found = calibrate([*neighbour, Observation(constant="runtime_pair_old", value=0.5)])
    assert found.runtime_pair_old.value == pytest.approx(1.0)
    assert (found.runtime_pair_old.low, found.runtime_pair_old.high) == (0.5, 2.0)


def test_a_shape_without_state_or_tower_needs_neither() -> None:
    plain = evaluate(a_question(shape=a_shape()))
    assert encoder_bytes(plain.setup) == 0
    assert plain.ledger.activation.high_bytes < 1.05 * plain.ledger.activation.bytes
