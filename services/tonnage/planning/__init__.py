"""The planning server: servicers, codec and use cases."""
