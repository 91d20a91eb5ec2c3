"""The cache of answers."""

from __future__ import annotations

from tonnage.planning.wire import Key, RepeatCache


def key(name: bytes, version: int = 1) -> Key:
    """Return the key of one request."""
    return ("PlanCapacity", name, version, "2026-11-30", None)


def test_an_answer_is_found_under_its_own_request_version_and_day_alone() -> None:
    cache = RepeatCache(1 << 20)
    cache.put(key(b"a"), b"answer")
    assert cache.get(key(b"a")) == b"answer"
    assert cache.get(key(b"b")) is None
    assert cache.get(key(b"a", version=2)) is None
    assert cache.get((*key(b"a")[:3], "2026-12-01", None)) is None


def test_the_least_recently_used_answer_goes_first() -> None:
    cache = RepeatCache(10_000)
    for name in (b"a", b"b", b"c"):
        cache.put(key(name), b"x" * 2_000)
    assert cache.get(key(b"a")) is not None
    for name in (b"d", b"e"):
        cache.put(key(name), b"x" * 2_000)
    assert cache.get(key(b"b")) is None
    assert cache.get(key(b"a")) is not None
    assert cache.get(key(b"e")) is not None


def test_an_answer_that_would_push_out_most_others_is_not_kept() -> None:
    cache = RepeatCache(10_000)
    cache.put(key(b"a"), b"x" * 5_000)
    assert cache.get(key(b"a")) is None
