"""What one start-up log says about the constants of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tonnage.capacity.memory import overheads
from tonnage.capacity.memory.accuracy_rows import NOT_STATED
from tonnage.capacity.memory.calibrate import Observation, observed_rate
from tonnage.capacity.memory.constants import DEFAULT
from tonnage.capacity.memory.core import evaluate
from tonnage.capacity.memory.version import Version
from tonnage.errors import InvalidInput
from tonnage.units import GIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.capacity.memory.accuracy_rows import Asked
    from tonnage.capacity.memory.core import Core

_NEW_SAMPLER = Version(0, 17)
_NEW_RUNTIME = Version(0, 18)
_LARGEST_RESIDUE_GIB = 1.0
_UNIFIED = ("gb10", "jetson", "gh200")
"""Hosts that share the memory: what such a log calls non-torch is not the engine's."""
_OUTLIER = 1.5
"""A peak this far from the prior came from something else (an encoder, an odd flag)."""


def _sampler(found: Asked, core: Core) -> Iterator[Observation]:
    peak, shape, setup = found.row.number("activation_peak_gib"), core.setup.shape, core.setup
    if peak is None or shape.vocabulary_size is None or shape.hidden_size is None or setup.version is None:
        return
    if found.question.pipeline_parallel > 1 or setup.model_element_bytes != 2:  # noqa: PLR2004 -- 16-bit models
        return
    entries = min(setup.sequences, setup.step_tokens) * shape.vocabulary_size
    hidden = DEFAULT.hidden_factor * setup.step_tokens * shape.hidden_size * setup.model_element_bytes
    forward = overheads.forward_bytes(setup)
    rate = observed_rate(peak, hidden, entries)
    new = setup.version >= _NEW_SAMPLER
    prior = (DEFAULT.sampler_bytes_new if new else DEFAULT.sampler_bytes_old).value
    if forward is not None and forward > prior * entries:
        return
    if prior / _OUTLIER <= rate <= prior * _OUTLIER:
        yield Observation(constant=f"sampler_bytes_{'new' if new else 'old'}", value=rate, weight=float(entries))


def _runtime(found: Asked, core: Core) -> Iterator[Observation]:
    size, question, setup = found.row.number("non_torch_gib"), found.question, core.setup
    if size is None or size <= 0 or setup.version is None or question.device.id.startswith(_UNIFIED):
        return
    age = "new" if setup.version >= _NEW_RUNTIME else "old"
    if question.tensor_parallel * question.pipeline_parallel > 8:  # noqa: PLR2004 -- one host
        yield Observation(constant="runtime_nodes", value=size)
    elif question.tensor_parallel > 1 and overheads.linked(question.device.id):
        yield Observation(constant="runtime_pair_v0" if setup.v0 else f"runtime_pair_{age}", value=size)
    elif question.tensor_parallel > 1:
        yield Observation(constant="runtime_pair_pcie", value=size)
    elif question.pipeline_parallel > 1:
        yield Observation(constant="runtime_stage", value=size)
    elif question.device.id != NOT_STATED:
        yield Observation(constant="runtime_single_v0" if setup.v0 else f"runtime_single_{age}", value=size)


def _graphs(found: Asked, core: Core) -> Iterator[Observation]:
    size, setup = found.row.number("cudagraph_gib"), core.setup
    if size is None or size <= 0:
        return
    if setup.at_least(*overheads.FIRST_GRAPHS_IN_BUDGET) and setup.sequences <= overheads.FEW_SEQUENCES:
        yield Observation(constant="graphs_few", value=size)
    else:
        yield Observation(constant="graphs_large" if overheads.large_graphs(setup) else "graphs_dense", value=size)


def _residue(found: Asked, core: Core) -> Iterator[Observation]:
    size = found.row.number("weights_gib")
    if size is None or not found.precision_known or core.ledger.rank is None or not core.ledger.rank.counted:
        return
    excess = size - (core.ledger.weights.bytes / GIB - DEFAULT.load_residue_sglang.value)
    if 0 < excess < _LARGEST_RESIDUE_GIB:
        yield Observation(constant="load_residue_sglang", value=excess)


def observations(found: Asked) -> list[Observation]:
    """Return what a log of vLLM or SGLang says; logs that cannot be asked say nothing here."""
    if found.question.engine not in {"vllm", "sglang"}:
        return []
    try:
        core = evaluate(found.question)
    except InvalidInput:
        return []
    parts = (_sampler, _runtime, _graphs) if found.question.engine == "vllm" else (_residue,)
    row = found.row
    return [replace(item, family=row.family, log=row.id) for part in parts for item in part(found, core)]
