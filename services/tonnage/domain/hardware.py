"""Accelerators and the names they go by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """A card we know; memory in bytes as the driver shows it, an interval where cards differ."""

    id: str
    name: str
    vendor: str
    architecture: str | None = None
    memory_sold_gb: float | None = None
    usable_low_bytes: int | None = None
    usable_high_bytes: int | None = None
    memory_bandwidth_gb_per_s: float | None = None
    bf16_dense_tflops: float | None = None
    fp8_dense_tflops: float | None = None
    aliases: tuple[str, ...] = ()
    source: str = ""
    note: str = ""
