"""The constants of the memory model: fitted ones with their spread, and how they are fitted anew.

Each value is a least-squares or median figure over start-up logs, made by ``capacity.memory.calibrate``
from the figures in ``catalog/data/startup_logs.csv``; it makes another set from other logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A constant, the range nine in ten logs fell into, and how many logs it rests on."""

    value: float
    low: float
    high: float
    log_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What the ledger cannot derive from shapes. Memory in GiB per accelerator unless said."""

    sampler_bytes_old: Fitted = field(default_factory=lambda: Fitted(value=38.15, low=37.8, high=39.0, log_count=16))
    """Bytes per sequence and vocabulary entry of the sampler's warm-up, up to vLLM 0.16."""
    sampler_bytes_new: Fitted = field(default_factory=lambda: Fitted(value=14.73, low=14.5, high=15.1, log_count=25))
    """The same from 0.17 on."""
    hidden_factor: float = 1.45
    """Step activations beside the sampler, in units of step tokens x hidden x element bytes."""
    runtime_single_v0: Fitted = field(default_factory=lambda: Fitted(value=0.35, low=0.04, high=1.8, log_count=6))
    """Context and libraries on one accelerator, vLLM's old engine."""
    runtime_single_old: Fitted = field(default_factory=lambda: Fitted(value=0.13, low=0.02, high=0.4, log_count=12))
    """Context and libraries on one accelerator, vLLM 0.8 to 0.17."""
    runtime_single_new: Fitted = field(default_factory=lambda: Fitted(value=0.25, low=0.22, high=0.27, log_count=19))
    """The same from 0.18 on."""
    runtime_pair_old: Fitted = field(default_factory=lambda: Fitted(value=0.545, low=0.45, high=1.8, log_count=2))
    """With tensor parallelism up to 0.17."""
    runtime_pair_v0: Fitted = field(default_factory=lambda: Fitted(value=1.4, low=0.45, high=3.58, log_count=1))
    """With tensor parallelism, vLLM's old engine: one log, pulled to the class above."""
    runtime_pair_new: Fitted = field(default_factory=lambda: Fitted(value=2.1, low=2.0, high=2.3, log_count=7))
    """With tensor parallelism from 0.18 on, cards joined by NVLink."""
    runtime_pair_pcie: Fitted = field(default_factory=lambda: Fitted(value=0.3, low=0.1, high=0.6, log_count=0))
    """With tensor parallelism over PCIe; assumed, one log of 0.2 supports it."""
    runtime_stage: Fitted = field(default_factory=lambda: Fitted(value=0.07, low=0.05, high=0.3, log_count=2))
    """Pipeline stages alone."""
    runtime_nodes: Fitted = field(default_factory=lambda: Fitted(value=2.5, low=2.0, high=3.0, log_count=0))
    """More than one host; assumed, one log of 2.53 supports it."""
    graphs_dense: Fitted = field(default_factory=lambda: Fitted(value=0.91, low=0.14, high=1.0, log_count=23))
    """Graphs of dense models with the default list of sizes."""
    graphs_large: Fitted = field(default_factory=lambda: Fitted(value=1.55, low=0.24, high=3.1, log_count=12))
    """Graphs of models of 40 billion parameters or more, and of models with experts."""
    graphs_few: Fitted = field(default_factory=lambda: Fitted(value=0.46, low=0.0, high=1.0, log_count=1))
    """Graphs from vLLM 0.21 on with at most 256 sequences: a short list of sizes. One log, pulled to dense ones."""
    runtime_generic: Fitted = field(default_factory=lambda: Fitted(value=1.0, low=0.3, high=2.5, log_count=0))
    """No engine named: context, libraries and collectives together; a guess, said as such."""
    runtime_llama_cpp: Fitted = field(default_factory=lambda: Fitted(value=0.4, low=0.2, high=0.8, log_count=0))
    """Context of llama.cpp's back ends; a guess, said as such."""
    runtime_tensorrt: Fitted = field(default_factory=lambda: Fitted(value=1.75, low=1.0, high=6.0, log_count=2))
    """What TensorRT-LLM uses beside the weights before it measures what is free."""
    load_residue_sglang: Fitted = field(default_factory=lambda: Fitted(value=0.08, low=0.0, high=0.9, log_count=5))
    """What loading takes beyond the weights in SGLang's log, a difference of free memory; drafts only add to it."""
    runtime_sglang: Fitted = field(default_factory=lambda: Fitted(value=0.8, low=0.3, high=2.5, log_count=0))
    """Context and libraries before SGLang measures what is free; assumed."""


DEFAULT: Constants = Constants()
