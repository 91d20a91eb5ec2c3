"""What an image or audio encoder may need in a step; an upper end, since limits and sizes are the caller's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tonnage.capacity.memory.defaults import Setup

_PATCHES_PER_TOKEN: Final = 4
"""Two by two patches make one token of the language model."""
_LARGEST_IMAGE_TOKENS: Final = 16_384
"""Largest image a processor passes on (SGLang 0.5.23: 16,384 x 28 x 28 pixels for the Qwen family)."""
_ATTENTION_WIDTHS: Final = 11
"""Queries, keys and values at 16 bits, and queries and keys in fp32 before and after rotation."""


def encoder_bytes(setup: Setup) -> int:
    """Return the encoder's working memory for one image of the largest size; 0 without a tower or with it off.

    Patches x (2 h + the larger of 2 I and 11 h, over tp) x 2 bytes. No log here shows it alone, so it widens
    the range of the activation and is not in its figure.
    """
    tower = setup.shape.tower
    if tower is None or setup.question.language_only:
        return 0
    hidden = tower.hidden_size
    inner = tower.intermediate_size if tower.intermediate_size is not None else 4 * hidden
    patches = _PATCHES_PER_TOKEN * max(setup.step_tokens, _LARGEST_IMAGE_TOKENS)
    width = 2 * hidden + max(2 * inner, _ATTENTION_WIDTHS * hidden) / setup.question.tensor_parallel
    return round(patches * width * setup.model_element_bytes)
