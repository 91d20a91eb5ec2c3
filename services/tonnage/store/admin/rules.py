"""What holds between the rows of a sound store, each rule as a query for rows that break it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tonnage.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.store.admin.frozen import Frozen

SHOWN_COUNT: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule; ``sql`` gives a text for each breach, from the tables named in ``tables``."""

    code: str
    problem: str
    sql: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A rule that does not hold: how often, and the first few cases."""

    code: str
    problem: str
    case_count: int
    cases: tuple[str, ...]


def _twice(code: str, table: str, *keys: str) -> Rule:
    named = " || ' ' || ".join(f"{key}::VARCHAR" for key in ("namespace", *keys))
    return Rule(
        code=code,
        problem=f"the table {table} holds a key more than once",
        sql=f"SELECT {named} FROM lake.{table} GROUP BY namespace, {', '.join(keys)} HAVING count(*) > 1",
        tables=(table,),
    )


# A point repeats what its run says, findings apart: both have theirs.
_REPEATED: Final = tuple(name for name in TABLES["points"].names if name in TABLES["runs"].names and name != "findings")
_DIFFERS: Final = " OR ".join(
    f"point.{name} IS DISTINCT FROM run.{name}" for name in _REPEATED if name not in {"namespace", "run_id"}
)
_COUNTED: Final = """
    SELECT namespace, run_id, count(*) AS level_count, count(*) FILTER (usable) AS usable_level_count
    FROM lake.points GROUP BY namespace, run_id
"""
_ROWS_OF_COMMITS: Final = """
    SELECT namespace, data_version, 1 AS runs, 0 AS points, 0 AS events FROM lake.runs
    UNION ALL SELECT namespace, data_version, 0, 1, 0 FROM lake.points
    UNION ALL SELECT namespace, data_version, 0, 0, 1 FROM lake.run_events
"""

RULES: Final = (
    _twice("POINT_TWICE", "points", "run_id", "point_index"),
    _twice("RUN_TWICE", "runs", "run_id"),
    _twice("EVENT_TWICE", "run_events", "run_id", "data_version", "event_index"),
    _twice("REPORT_TWICE", "reports", "report_id", "data_version"),
    _twice("REQUEST_TWICE", "requests", "request_id"),
    _twice("PLAN_TWICE", "plans", "plan_id"),
    Rule(
        code="POINT_OF_NO_RUN",
        problem="points belong to a run that is not stored",
        sql=f"SELECT namespace || ' ' || run_id FROM ({_COUNTED}) AS counted ANTI JOIN lake.runs AS run "
        "USING (namespace, run_id)",
        tables=("points", "runs"),
    ),
    Rule(
        code="POINTS_MISSING",
        problem="a run has another number of points, or of usable ones, than it was stored with",
        sql=f"SELECT run.namespace || ' ' || run.run_id FROM lake.runs AS run LEFT JOIN ({_COUNTED}) AS counted "
        "USING (namespace, run_id) WHERE (run.level_count, run.usable_level_count) IS DISTINCT FROM "
        "(coalesce(counted.level_count, 0), coalesce(counted.usable_level_count, 0))",
        tables=("points", "runs"),
    ),
    Rule(
        code="POINT_UNLIKE_ITS_RUN",
        problem="a point says something else than its run of what was under test",
        sql="SELECT DISTINCT point.namespace || ' ' || point.run_id FROM lake.points AS point JOIN lake.runs AS run "
        f"USING (namespace, run_id) WHERE {_DIFFERS}",
        tables=("points", "runs"),
    ),
    Rule(
        code="EVENT_OF_NO_RUN",
        problem="an event belongs to a run that is not stored",
        sql="SELECT DISTINCT event.namespace || ' ' || event.run_id FROM lake.run_events AS event "
        "ANTI JOIN lake.runs AS run USING (namespace, run_id)",
        tables=("run_events", "runs"),
    ),
    Rule(
        code="COMMIT_UNLIKE_ITS_ROWS",
        problem="a commit holds another number of runs, points or events than it says",
        sql=f"""
            SELECT coalesce(said.namespace, held.namespace) || ' '
                || coalesce(said.data_version, held.data_version)::VARCHAR
            FROM lake.commits AS said FULL JOIN (
                SELECT namespace, data_version, sum(runs) AS runs, sum(points) AS points, sum(events) AS events
                FROM ({_ROWS_OF_COMMITS}) GROUP BY namespace, data_version
            ) AS held USING (namespace, data_version)
            WHERE said.data_version IS NULL OR (said.run_count, said.point_count, said.event_count)
                IS DISTINCT FROM (coalesce(held.runs, 0), coalesce(held.points, 0), coalesce(held.events, 0))
        """,
        tables=("commits", "points", "runs", "run_events"),
    ),
    Rule(
        code="COMMIT_MISSING",
        problem="data versions are numbered without a gap, and some are not there",
        sql="SELECT 'from ' || (before + 1)::VARCHAR || ' to ' || (data_version - 1)::VARCHAR FROM ("
        "SELECT data_version, lag(data_version, 1, 0) OVER (ORDER BY data_version) AS before "
        "FROM (SELECT DISTINCT data_version FROM lake.commits)) WHERE data_version > before + 1",
        tables=("commits",),
    ),
)


def breaches(store: Frozen) -> Iterator[Breach]:
    """Yield the rules that do not hold; one whose tables an older schema lacks is left out. Raises ``duckdb.Error``."""
    for rule in RULES:
        if store.tables.issuperset(rule.tables):
            cases = store.rows(
                f"SELECT any_value(total), list(text ORDER BY text) FROM (SELECT text, count(*) OVER () AS total "
                f"FROM ({rule.sql}) AS broken(text) ORDER BY text LIMIT {SHOWN_COUNT})"
            )
            ((count, texts),) = cases
            if count is not None and isinstance(texts, list):
                yield Breach(code=rule.code, problem=rule.problem, case_count=int(str(count)), cases=tuple(texts))
