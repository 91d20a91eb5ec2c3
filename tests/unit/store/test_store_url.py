"""Store URLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.errors import InvalidInput
from tonnage.store.url import EmbeddedPlace, ScaleOutPlace, parse_store_url, shown_url


def test_a_lake_url_names_a_folder() -> None:
    assert parse_store_url("lake:///srv/store") == EmbeddedPlace(Path("/srv/store"))


def test_a_path_may_hold_escaped_characters() -> None:
    assert parse_store_url("lake:///srv/a%20b%3Fc") == EmbeddedPlace(Path("/srv/a b?c"))


def test_the_scale_out_url_is_taken_apart() -> None:
    found = parse_store_url("lake+postgres://me:secret@db:5433/runs?data=s3://bucket/a/b")
    assert found == ScaleOutPlace(catalog="postgresql://me:secret@db:5433/runs", data="s3://bucket/a/b")


def test_the_options_of_a_scale_out_url_are_kept() -> None:
    found = parse_store_url(
        "lake+postgres://me@db/runs?data=s3://b/p&endpoint=https://s3:9000&region=eu&sslmode=require"
    )
    assert found == ScaleOutPlace(
        catalog="postgresql://me@db/runs",
        data="s3://b/p",
        endpoint="https://s3:9000",
        region="eu",
        sslmode="require",
    )


def test_what_is_shown_of_a_url_holds_no_user_password_or_option() -> None:
    assert shown_url("lake:///srv/store") == "lake:///srv/store"
    shown = shown_url("lake+postgres://me:secret@db:5433/runs?data=s3://bucket/a")
    assert shown == "lake+postgres://db:5433/runs"


BAD = (
    "",
    "/srv/store",
    "lake://relative/store",
    "lake:///",
    "lake:",
    "lake:///srv?data=s3://b",
    "lake:///srv#x",
    "lake:///srv%00",
    "sqlite:///srv/store",
    "lake://[bad/store",
    "lake+postgres://db/runs",
    "lake+postgres://db/runs?data=/srv",
    "lake+postgres://db/runs?data=s3://",
    "lake+postgres://db/runs?data=s3://a&data=s3://b",
    "lake+postgres://db/runs?data=s3://a&mode=fast",
    "lake+postgres://db/runs?data=s3://a&endpoint=s3:9000",
    "lake+postgres://db/runs?data=s3://a&endpoint=http://s3/path",
    "lake+postgres://db/runs?data=s3://a&region=x&region=y",
    "lake+postgres://db/runs?data=s3:///",
    "lake+postgres:///runs?data=s3://a",
    "lake+postgres://db?data=s3://a",
)


@pytest.mark.parametrize("url", BAD)
def test_a_url_that_names_no_store_is_refused_with_a_cure(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_store_url(url)
    (violation,) = refused.value.violations
    assert violation.path == "store"
    assert "lake:///" in violation.cure


def test_a_refusal_never_shows_a_password() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_store_url("lake+postgres://me:secret@db/runs")
    assert "secret" not in str(refused.value)
