"""Whether the tensors of a checkpoint can be those of the whole model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from tonnage.domain.memory import WeightInventory

_FEWEST_BYTES_PER_PARAMETER: Final = 1.5 / 8
"""Builds of fewer bits a weight are not known; a checkpoint of fewer bytes was not given whole."""


def refuse_partial(found: WeightInventory, parameter_count: int) -> None:
    """Refuse tensors too few for the shape, as those of one file out of many are."""
    if found.total_bytes < _FEWEST_BYTES_PER_PARAMETER * parameter_count:
        raise InvalidInput.field(
            "inventory.total_bytes",
            found.total_bytes,
            f"is below 1.5 bits for each of the {parameter_count} parameters of the shape",
            "give the headers of all files of the checkpoint",
        )


def only_total(found: WeightInventory) -> bool:
    """Tell whether nothing is known but the sum, as from an index alone."""
    return not (found.embedding_bytes or found.expert_bytes or found.replicated_bytes or found.tower_bytes)
