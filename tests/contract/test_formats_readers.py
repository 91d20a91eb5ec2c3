"""What holds for every reader: names, definitions, samples kept here, and an answer for any bytes."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

import pytest
from builders_formats import of_bytes, opened

from tonnage.domain.measurement import METRICS, STATISTICS, Level, Run
from tonnage.errors import TonnageError
from tonnage.formats import FORMATS, read, recognise
from tonnage.formats.base import Format
from tonnage.formats.reference import page

if TYPE_CHECKING:
    from pathlib import Path

SCALARS: Final = (
    "concurrency",
    "offered_requests_per_s",
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "reported_requests_per_s",
    "duration_s",
    "completed_count",
    "failed_count",
)
TOKENS: Final = (b"NaN", b"-1", b"0", b"1e999", b"null", b"{}", b"[]", b'"x"', b"true", b"1e308", b"9" * 30)
MORE_TOKENS: Final = (b",", b'"', b"{", b"}", b"[", b"]", b":", b"\x00", b"\xff", b"\n", b'"inf"', b"1" * 5000, b"1,5")
LARGEST_SAMPLE_BYTES: Final = 40_000


def sound(level: Level) -> bool:
    """Tell whether no figure of a checked level is negative or not finite."""
    figures = [getattr(level, name) for name in SCALARS]
    figures += [level.latency(metric).value_ms(statistic) for metric in METRICS for statistic in STATISTICS]
    figures += [getattr(level.work, name) for name in level.work.__dataclass_fields__]
    return all(value is None or (math.isfinite(value) and value >= 0) for value in figures)


def answered(data: bytes) -> list[Run]:
    """Return the checked runs of bytes, or none where they are refused by name."""
    try:
        source = of_bytes(data, "unknown")
        return read(source, recognise(source))[0]
    except TonnageError:
        return []


def test_names_and_definitions_are_unique() -> None:
    names = [reader.name for reader in FORMATS]
    assert len(set(names)) == len(names)
    assert all(isinstance(reader, Format) for reader in FORMATS)


@pytest.mark.parametrize("reader", FORMATS, ids=lambda reader: reader.name)
def test_a_reader_says_what_its_metrics_mean(reader: Format) -> None:
    metrics = {item.metric for item in reader.definitions}
    assert "e2e" in metrics or reader.name in {"llama-bench", "llama-benchy", "optimum-benchmark"}
    assert all(item.definition for item in reader.definitions)
    assert reader.recognised_by
    assert reader.name in page()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("vllm-bench-serve", "vllm-bench-serve"),
        ("guidellm", "guidellm"),
        ("aiperf", "aiperf"),
        ("inference-perf", "inference-perf"),
        ("llama-bench", "llama-bench"),
        ("locust", "locust"),
    ],
)
def test_the_samples_kept_here_are_read_by_their_own_reader(root: Path, folder: str, name: str) -> None:
    files = sorted(path for path in (root / "bench_data" / "samples" / folder).iterdir() if path.suffix != ".yaml")
    assert files
    for path in files:
        source = opened(path)
        reader = recognise(source)
        runs, _ = read(source, reader)
        assert reader.name == name
        assert all(level.completed_count or not level.usable for run in runs for level in run.levels)


def test_the_seed_runs_are_read_whole(root: Path) -> None:
    for path in sorted((root / "bench_data" / "seed").glob("*.csv")):
        source = opened(path)
        runs, findings = read(source, recognise(source))
        rows = len(path.read_text().splitlines()) - 1
        assert sum(len(run.levels) for run in runs) == rows, path.name
        assert not findings


def samples(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if path.stat().st_size <= LARGEST_SAMPLE_BYTES]


def test_a_file_cut_off_anywhere_gives_levels_or_a_named_refusal(shared: Path) -> None:
    chance = random.Random(1)  # noqa: S311 -- repeatable, no secret
    for path in samples(shared / "samples"):
        data = path.read_bytes()
        for _ in range(2):
            for run in answered(data[: chance.randrange(len(data))]):
                assert all(sound(level) for level in run.levels), path


def test_a_file_with_foreign_bytes_gives_levels_or_a_named_refusal(shared: Path) -> None:
    chance = random.Random(2)  # noqa: S311 -- repeatable, no secret
    for path in samples(shared / "samples"):
        for _ in range(4):
            data = bytearray(path.read_bytes())
            for _ in range(chance.randrange(1, 5)):
                place = chance.randrange(len(data))
                data[place : place + chance.randrange(3)] = chance.choice(TOKENS + MORE_TOKENS)
            for run in answered(bytes(data)):
                assert all(sound(level) for level in run.levels), path
