"""The ingest server: servicer, codec and use cases."""
