"""Runs that come in bulk, as Arrow tables: read, checked and keyed by column, one pass a message."""
