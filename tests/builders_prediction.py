"""Curves that follow a law, for predictions: what was not measured is known all the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tonnage.capacity.prediction.samples import Sample, Traits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOADS = (1.0, 4.0, 16.0, 64.0, 256.0)
SIZES = ((512.0, 256.0), (1024.0, 1024.0), (2048.0, 256.0), (4096.0, 1024.0))


def some_traits(
    model: str = "m",
    *,
    count: int = 1,
    size: tuple[float | None, float | None] = (1024.0, 1024.0),
    variant: tuple[str, ...] = ("agg", "none"),
    build: str = "",
) -> Traits:
    """Return the traits of a closed-loop curve."""
    return Traits(
        model=model,
        configuration=("fp8", "H100", str(count), "vllm"),
        precision="fp8",
        accelerator="H100",
        engine="vllm",
        accelerator_count=float(count),
        variant=variant,
        build=build,
        arrival="closed",
        input_tokens=size[0],
        output_tokens=size[1],
    )


def tpot_ms(load: float, traits: Traits) -> float:
    """Return a law: weights are read for all, context for each, prefill gets in between."""
    given, out = traits.input_tokens or 0.0, traits.output_tokens or 1.0
    each = load / (traits.accelerator_count or 1.0)
    return 6.0 + each * (0.05 + 2e-5 * (given + out / 2) + 0.02 * given / out)


def throughput(load: float, traits: Traits) -> float:
    """Return output tokens/s of a closed loop in which decoding is all the time there is."""
    return 1000.0 * load / tpot_ms(load, traits)


def tpot_samples(
    traits: Traits, loads: Iterable[float] = LOADS, *, curve: str = "", scale: float = 1.0
) -> list[Sample]:
    """Return one curve of the law."""
    name = curve or f"{traits.model}/{traits.accelerator_count}/{traits.input_tokens}/{traits.output_tokens}"
    return [Sample(curve=name, traits=traits, load=load, value=scale * tpot_ms(load, traits)) for load in loads]


def many_models(loads: Sequence[float] = LOADS) -> list[Sample]:
    """Return curves of six models, three counts and four request sizes; models differ by a factor."""
    samples = []
    for number in range(6):
        for count in (1, 2, 4):
            for size in SIZES:
                traits = some_traits(f"model-{number}", count=count, size=size)
                samples += tpot_samples(traits, loads, scale=math.exp(0.2 * number))
    return samples
