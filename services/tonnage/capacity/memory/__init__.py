"""The memory model: does it fit on the accelerator, and how many at once."""

from tonnage.capacity.memory.fit import fit
from tonnage.capacity.memory.grid import memory_map

__all__ = ["fit", "memory_map"]
