"""How well the model predicts what engines logged: errors by term, coverage of intervals, verdicts.

Each family is judged with constants fitted to the logs of the other families: those of the
file, and those the shipped constants rest on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tonnage.capacity.memory.accuracy_report import GIVEN_POOL, Report, Score, Skipped, VerdictScore
from tonnage.capacity.memory.accuracy_rows import Asked, Facts, Row, asked
from tonnage.capacity.memory.calibrate import Observation, calibrate
from tonnage.capacity.memory.constants import DEFAULT, Constants
from tonnage.capacity.memory.core import Core, evaluate
from tonnage.capacity.memory.observe import observations
from tonnage.domain.memory import DeclaredMemory, FitVerdict
from tonnage.errors import InvalidInput
from tonnage.units import GIB, gib_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ROWS_AND_STATES: Final = 1.9
"""SGLang gives recurrent states about 0.9 of what it gives rows; it logs the two apart."""
_FAILURES: Final = frozenset({"oom_kv", "oom_load", "oom_runtime"})


def _interval(core: Core) -> tuple[int, int]:
    """Return the pool's interval: what is spent at its high ends, and at its low ends."""
    found = core.ledger
    spent = [found.weights, found.runtime]
    spent += [found.activation] if found.work_in_budget else []
    spent += [found.graphs] if found.graphs_in_budget else []
    less = sum(item.high_bytes - item.bytes for item in spent)
    more = sum(item.bytes - item.low_bytes for item in spent)
    return found.pool_bytes - less, found.pool_bytes + more


def _engine_pool(core: Core, pool_bytes: int) -> float:
    """Return the pool in the sense the engine logs it: llama.cpp what was asked, SGLang's hybrids rows alone."""
    if core.setup.engine == "llama.cpp":
        return _cells(core)
    if core.setup.engine == "sglang" and _state_bytes(core):
        return pool_bytes / _ROWS_AND_STATES
    return pool_bytes


def _cells(core: Core) -> float:
    """Return llama.cpp's cells over all devices and slots, states aside; ``max_model_len`` is the sum of all slots."""
    slots, length = core.setup.sequences, core.setup.max_len
    whole = replace(core.setup.question, tensor_parallel=1, pipeline_parallel=1)
    one = evaluate(whole)
    if length is None:
        return 0.0
    return slots * (one.request_bytes(-(-length // slots)) - _state_bytes(one))


def _state_bytes(core: Core) -> int:
    if core.layout is None:
        return 0
    return sum(group.state_bytes * group.layer_count for group in core.layout.groups)


def _score(row: Row, term: str, predicted: float, low: float, high: float) -> Score | None:
    logged = row.number(term.removesuffix(GIVEN_POOL))
    if logged is None or logged <= 0:
        return None
    return Score(id=row.id, term=term, predicted=predicted, logged=logged, low=low, high=high)


def _weights(found: Asked, core: Core) -> Score | None:
    amount = core.ledger.weights
    return _score(found.row, "weights_gib", amount.bytes / GIB, amount.low_bytes / GIB, amount.high_bytes / GIB)


def _pool(found: Asked, core: Core) -> Score | None:
    low, high = _interval(core)
    sizes = [_engine_pool(core, size) / GIB for size in (core.ledger.pool_bytes, low, high)]
    return _score(found.row, "kv_cache_gib", *sizes)


def _cache(found: Asked, core: Core, suffix: str = "") -> Iterable[Score | None]:
    if core.pool is None:
        return
    low, high = (core.ledger.pool_bytes,) * 2 if suffix else _interval(core)
    length = core.setup.max_len
    if core.setup.shape.compression is not None and core.setup.question.max_model_len is None:
        return
    if length is not None:
        counts = [core.pool.printed_tokens(size, length) for size in (core.ledger.pool_bytes, low, high)]
        yield _score(found.row, "kv_cache_tokens" + suffix, *map(float, counts))
    at = found.row.whole("max_concurrency_len")
    at = at if at is not None else core.setup.question.max_model_len
    if at is not None:
        each = core.request_bytes(at)
        counts_of = [core.pool.usable_bytes(size) / each for size in (core.ledger.pool_bytes, low, high)]
        yield _score(found.row, "max_concurrency" + suffix, *counts_of)


def _given_pool(found: Asked) -> Asked:
    """Return the question with the pool the engine logged."""
    pool = found.row.number("kv_cache_gib")
    if pool is not None and found.question.engine == "sglang" and found.question.shape.state is not None:
        pool *= _ROWS_AND_STATES
    size = gib_to_bytes(pool) if pool is not None and pool > 0 else None
    return replace(
        found, question=replace(found.question, declared=DeclaredMemory(weights_bytes=0, kv_pool_bytes=size))
    )


def _verdict(found: Asked, core: Core) -> VerdictScore | None:
    outcome = found.row.text("outcome")
    if outcome != "ok" and outcome not in _FAILURES:
        return None
    starts = core.verdict is not FitVerdict.DOES_NOT_FIT
    late = outcome == "oom_runtime"
    right = core.verdict is not FitVerdict.FITS if late else starts is (outcome == "ok")
    return VerdictScore(id=found.row.id, started=outcome == "ok", right=right, verdict=core.verdict.value)


@dataclass(slots=True)
class _Judge:
    scores: list[Score]
    verdicts: list[VerdictScore]
    skipped: list[Skipped]

    def add(self, score: Score | None) -> None:
        if score is not None:
            self.scores.append(score)

    def skip(self, row: Row, why: str) -> None:
        self.skipped.append(Skipped(id=row.id, why=why))

    def _add_pool(self, found: Asked, core: Core) -> None:
        logged = found.row.number("kv_cache_gib")
        if logged is not None and logged <= 0:
            self.skip(found.row, "pool: none was made, so it has no relative error; the verdict is judged")
        self.add(_pool(found, core))

    def judge(self, found: Asked, constants: Constants) -> None:
        row = found.row
        try:
            core = evaluate(found.question, constants)
        except InvalidInput as error:
            self.skip(row, error.message)
            return
        whole = not found.lacks
        if found.precision_known and core.setup.engine != "llama.cpp":
            self.add(_weights(found, core))
        elif row.number("weights_gib") is not None:
            self.skip(row, "weights: the log says quantized and not how")
        if whole and core.setup.engine != "llama.cpp":
            self._add_pool(found, core)
            for score in _cache(found, core):
                self.add(score)
            verdict = _verdict(found, core)
            if verdict is not None:
                self.verdicts.append(verdict)
        elif core.setup.engine == "llama.cpp":
            self._add_pool(found, core)
            for score in _cache(found, core):
                self.add(score)
        elif row.text("outcome") or row.number("kv_cache_gib") is not None:
            self.skip(row, f"pool and verdict: {found.lacks} is not stated")
        self._from_logged_pool(found, constants, whole=whole)

    def _from_logged_pool(self, found: Asked, constants: Constants, *, whole: bool) -> None:
        logged = found.row.number("kv_cache_gib")
        if logged is None or logged <= 0 or found.question.engine == "llama.cpp":
            if not whole and found.row.number("kv_cache_tokens") is not None and found.question.engine != "llama.cpp":
                self.skip(found.row, "tokens: neither the pool nor all inputs of it are stated")
            return
        core = evaluate(_given_pool(found).question, constants)
        for score in _cache(found, core, GIVEN_POOL):
            self.add(score)
            if score is not None and not whole:
                self.add(replace(score, term=score.term.removesuffix(GIVEN_POOL)))


def rows_of(table: Iterable[Mapping[str, str]]) -> list[Row]:
    """Return the rows of a CSV's dictionaries; raises ``InvalidInput`` naming the column that is missing."""
    found = []
    for index, cells in enumerate(table):
        for column in ("id", "engine", "model_for_check"):
            if column not in cells:
                raise InvalidInput.field(column, None, "is not a column of the file", "use the columns the docs list")
        name = cells["id"].strip() or f"row {index + 1}"
        found.append(Row(id=name, family=cells.get("family", "").strip() or "not stated", cells=cells))
    return found


def accuracy(table: Iterable[Mapping[str, str]], facts: Facts, known: Sequence[Observation] = ()) -> Report:
    """Return how well the model predicts the logs; each family with constants the others gave.

    ``known`` are figures of earlier logs; a log that stands in both counts once, as the table has it.
    """
    judge = _Judge([], [], [])
    rows = rows_of(table)
    questions: list[Asked] = []
    for row in rows:
        found = asked(row, facts)
        if isinstance(found, str):
            judge.skip(row, found)
        else:
            questions.append(found)
    for family, constants in _left_out(questions, known).items():
        for found in questions:
            if found.row.family == family:
                judge.judge(found, constants)
    order = {row.id: index for index, row in enumerate(rows)}
    return Report(
        scores=tuple(sorted(judge.scores, key=lambda item: (order[item.id], item.term))),
        verdicts=tuple(sorted(judge.verdicts, key=lambda item: order[item.id])),
        skipped=tuple(sorted(judge.skipped, key=lambda item: (order[item.id], item.why))),
    )


def _left_out(questions: Sequence[Asked], known: Sequence[Observation]) -> dict[str, Constants]:
    """Return the constants for each family, fitted to the other families' logs."""
    here = {found.row.id for found in questions}
    pool = [item for item in known if item.log not in here]
    pool += [item for found in questions for item in observations(found)]
    families = {found.row.family for found in questions}
    return {family: calibrate([item for item in pool if item.family != family], DEFAULT) for family in sorted(families)}
