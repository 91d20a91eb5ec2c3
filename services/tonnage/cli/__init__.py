"""The ``tonnage`` command, thin over the client."""
