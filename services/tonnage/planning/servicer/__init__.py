"""The services of the planning server: decode, ask, encode."""
