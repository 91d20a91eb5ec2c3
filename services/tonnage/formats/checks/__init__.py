"""The single checks of the lint: scalars, latencies, loads."""
