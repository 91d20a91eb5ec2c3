"""Each rule between rows is seen to break."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import duckdb
import pytest

from tonnage.store.admin.frozen import Frozen, frozen
from tonnage.store.admin.rules import RULES, SHOWN_COUNT, breaches
from tonnage.store.schema import SCHEMA_VERSION, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from tonnage.store.url import EmbeddedPlace


@pytest.fixture(scope="session")
def tables(filled: EmbeddedPlace) -> dict[str, pa.Table]:
    """Return every table of the filled store."""
    with frozen(filled) as store:
        return {name: store.connection.execute(f"FROM lake.{name}").to_arrow_table() for name in TABLES}


@pytest.fixture
def rows(filled: EmbeddedPlace, tables: dict[str, pa.Table]) -> Iterator[Frozen]:
    """Return the rows of the filled store in memory, to be changed at will."""
    with closing(duckdb.connect()) as connection:
        connection.execute("ATTACH ':memory:' AS lake")
        for name, table in tables.items():
            connection.register("given", table)
            connection.execute(f"CREATE TABLE lake.{name} AS FROM given")
            connection.unregister("given")
        yield Frozen(filled, connection, filled.folder, SCHEMA_VERSION, frozenset(tables))


def test_a_sound_store_breaks_none(rows: Frozen) -> None:
    assert list(breaches(rows)) == []


BROKEN = [
    ("INSERT INTO lake.points SELECT * FROM lake.points LIMIT 1", "POINT_TWICE"),
    ("INSERT INTO lake.runs SELECT * FROM lake.runs LIMIT 1", "RUN_TWICE"),
    ("INSERT INTO lake.run_events SELECT * FROM lake.run_events LIMIT 1", "EVENT_TWICE"),
    ("INSERT INTO lake.reports SELECT * FROM lake.reports LIMIT 1", "REPORT_TWICE"),
    ("DELETE FROM lake.points WHERE point_index = 1", "POINTS_MISSING"),
    ("UPDATE lake.points SET usable = false WHERE point_index = 1", "POINTS_MISSING"),
    ("UPDATE lake.points SET model = 'another' WHERE point_index = 1", "POINT_UNLIKE_ITS_RUN"),
    ("UPDATE lake.points SET model = NULL WHERE point_index = 1", "POINT_UNLIKE_ITS_RUN"),
    ("DELETE FROM lake.runs WHERE data_version = 2", "POINT_OF_NO_RUN"),
    ("DELETE FROM lake.runs WHERE data_version = 1", "EVENT_OF_NO_RUN"),
    ("DELETE FROM lake.commits WHERE data_version = 2", "COMMIT_MISSING"),
    ("DELETE FROM lake.commits WHERE data_version = 4", "COMMIT_UNLIKE_ITS_ROWS"),
    (
        "INSERT INTO lake.requests SELECT 'a', 'b', 'append', '', '', now(), 1 FROM range(2)",
        "REQUEST_TWICE",
    ),
    ("INSERT INTO lake.plans SELECT 'a', 'b', '', 1, ''::BLOB, '', now() FROM range(2)", "PLAN_TWICE"),
    ("UPDATE lake.commits SET event_count = 7 WHERE data_version = 3", "COMMIT_UNLIKE_ITS_ROWS"),
]


@pytest.mark.parametrize(("statement", "expected"), BROKEN)
def test_rows_that_contradict_each_other_are_found(rows: Frozen, statement: str, expected: str) -> None:
    rows.connection.execute(statement)
    assert expected in {breach.code for breach in breaches(rows)}


def test_every_rule_has_a_case_that_breaks_it() -> None:
    assert {rule.code for rule in RULES} == {code for _, code in BROKEN}


def test_of_many_cases_the_first_are_shown_and_all_counted(rows: Frozen) -> None:
    rows.connection.execute(
        "INSERT INTO lake.points SELECT point.* REPLACE (100 + i AS point_index) "
        "FROM (SELECT * FROM lake.points LIMIT 1) AS point, range(50) AS made(i)"
    )
    rows.connection.execute("INSERT INTO lake.points SELECT * FROM lake.points WHERE point_index >= 100")
    (twice,) = (breach for breach in breaches(rows) if breach.code == "POINT_TWICE")
    assert (twice.case_count, len(twice.cases)) == (50, SHOWN_COUNT)


def test_rules_on_tables_an_older_schema_lacks_are_left_out(rows: Frozen) -> None:
    rows.connection.execute("DROP TABLE lake.plans")
    older = Frozen(rows.place, rows.connection, rows.catalog, 1, rows.tables - {"plans"})
    assert list(breaches(older)) == []
