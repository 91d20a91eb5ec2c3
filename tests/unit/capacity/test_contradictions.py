"""Limits that cannot hold together."""

from __future__ import annotations

import pytest
from builders_capacity import a_bucket, an_slo, codes

from tonnage.capacity.slo import contradictions
from tonnage.domain.measurement import ImageWork
from tonnage.domain.workload import DemandBucket


def test_first_token_and_the_rest_may_not_exceed_the_whole() -> None:
    found = contradictions(an_slo(ttft_p95=600, tpot_p95=40, e2e_p95=4000), (a_bucket(500, 200),))
    assert codes(found) == ["CONTRADICTING_LIMITS"]
    assert "600 ms + 199 x TPOT 40 ms = 8560 ms" in found[0].message
    assert found[0].remedy == "lower tpot p95 to 17.0854 ms, or raise e2e p95 to 8560 ms"


@pytest.mark.parametrize(
    "limits",
    [
        {"ttft_p95": 600, "tpot_p95": 40, "e2e_p95": 8560},
        {"ttft_p95": 600, "tpot_p95": 40, "e2e_p99": 4000},
        {"tpot_p95": 40, "e2e_p95": 4000},
        {"ttft_p95": 600, "tpot_p95": 40},
    ],
)
def test_limits_that_leave_room_or_speak_of_unlike_statistics_do_not_clash(limits: dict[str, float]) -> None:
    assert contradictions(an_slo(**limits), (a_bucket(500, 200),)) == ()


def test_only_the_bucket_that_clashes_is_named() -> None:
    slo = an_slo(ttft_p95=600, tpot_p95=40, e2e_p95=4000)
    found = contradictions(slo, (a_bucket(500, 50, 0.5), a_bucket(500, 200, 0.5)))
    assert len(found) == 1
    assert "500 in / 200 out" in found[0].message


def test_a_first_token_slower_than_the_whole_cannot_be_cured_by_tpot() -> None:
    found = contradictions(an_slo(ttft_p95=5000, tpot_p95=40, e2e_p95=4000), (a_bucket(500, 200),))
    assert found[0].remedy.endswith("or lower both other limits")


def test_requests_without_tokens_have_no_such_sum() -> None:
    buckets = (DemandBucket(work=ImageWork(megapixels=1.0)), a_bucket(500, 1))
    assert contradictions(an_slo(ttft_p95=600, tpot_p95=40, e2e_p95=300), buckets) == ()
