"""Whether the points of a bulk upload are the levels its runs state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tonnage.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tonnage.store.incoming import RunKey

_COUNTED: Final = ("run_id", "point_index_count", "point_index_count_distinct")


def check_points(keys: Sequence[RunKey], points: pa.Table) -> None:
    """Refuse points that are not the levels the runs state, each once: the store's MERGE would keep both of two."""
    if _are_in_order(keys, points):
        return
    held = pa.table({"run_id": points["run_id"].cast(pa.string()), "point_index": points["point_index"]})
    found = held.group_by("run_id").aggregate([("point_index", "count"), ("point_index", "count_distinct")])
    counts = zip(*(found[name].to_pylist() for name in _COUNTED), strict=True)
    by_run = {run_id: (count, distinct) for run_id, count, distinct in counts}
    for position, key in enumerate(keys):
        count, distinct = by_run.pop(key.run_id, (0, 0))
        if count != key.level_count or distinct != count:
            problem = f"is not the number of its points ({count}, {distinct} of them different)"
            raise InvalidInput.field(f"runs[{position}].level_count", key.level_count, problem, "send every level once")
    if by_run:
        raise InvalidInput.field("points.run_id", next(iter(by_run)), "is no run of the upload", "send its run too")


def _are_in_order(keys: Sequence[RunKey], points: pa.Table) -> bool:
    """Tell whether the points stand run by run in the order of the runs, each run's counted from 0: the usual case."""
    sizes = np.array([key.level_count for key in keys])
    if sizes.min() < 0 or sizes.sum() != points.num_rows:
        return False
    run_ids = pa.array([key.run_id for key in keys], pa.string())
    position = _positions(points["run_id"], run_ids)
    expected = np.repeat(np.arange(len(keys)), sizes)
    index = np.arange(points.num_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return bool((position == expected).all() and (points["point_index"].to_numpy() == index).all())


def _positions(column: pa.ChunkedArray, run_ids: pa.Array) -> npt.NDArray[np.int64]:
    """Return where in ``run_ids`` each value of a column stands, -1 for one that is not there."""
    found = [np.zeros(0, dtype=np.int64)]
    for chunk in column.chunks:
        held = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        places = pc.index_in(held, value_set=run_ids).fill_null(-1).to_numpy().astype(np.int64)
        found.append(places[chunk.indices.to_numpy()] if pa.types.is_dictionary(chunk.type) else places)
    return np.concatenate(found)
