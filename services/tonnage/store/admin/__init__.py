"""Looking after a store: what ``python -m tonnage.store`` does, beside a running ingest where it only reads."""
