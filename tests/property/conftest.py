"""Settings of the property tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure: examples have no deadline of their own, the test's timeout stands.
settings.register_profile("tonnage", deadline=None)
settings.load_profile("tonnage")
