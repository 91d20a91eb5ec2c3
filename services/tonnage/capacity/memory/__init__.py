"""The memory model: does it fit on the accelerator, and how many at once."""

from tonnage.capacity.memory.fit import fit

__all__ = ["fit"]
