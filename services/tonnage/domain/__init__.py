"""Frozen dataclasses with invariants; what the words of the product mean."""
