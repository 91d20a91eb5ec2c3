"""Seeded discrete-event simulation of a planned count, and the queueing formulas beside it."""
