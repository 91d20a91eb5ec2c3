"""The four kinds of demand, and tokens."""

from __future__ import annotations

import pytest
from builders_capacity import a_bucket, codes, text

from tonnage.capacity.demand import mean_output_tokens, rates, summarize
from tonnage.domain.finding import Origin
from tonnage.domain.measurement import AudioWork, EmbeddingWork
from tonnage.domain.workload import BaseAndPeak, DailyUsers, DemandBucket, PeakRate, Sessions
from tonnage.errors import InvalidInput


def test_base_and_factor_multiply_without_rounding_noise() -> None:
    demand = BaseAndPeak(base_requests_per_s=1.1, peak_factor=1.1, peak_factor_source="log")
    summary, findings = summarize(demand, (a_bucket(),))
    assert (summary.base_requests_per_s, summary.peak_requests_per_s, summary.peak_factor) == (1.1, 1.21, 1.1)
    assert summary.equation == "D_peak = 1.1 requests/s x 1.1 = 1.21 requests/s"
    assert (summary.origin, summary.source, findings) == (Origin.DECLARED, "log", ())
    assert 1.1 * 1.1 != 1.21


def test_a_peak_alone_leaves_the_base_unknown() -> None:
    summary, _ = summarize(PeakRate(peak_requests_per_s=5.0), (a_bucket(),))
    assert (summary.base_requests_per_s, summary.peak_factor, summary.base_tokens) == (None, None, None)


def test_a_base_of_nothing_has_no_factor() -> None:
    summary, _ = summarize(PeakRate(peak_requests_per_s=5.0, base_requests_per_s=0.0), (a_bucket(),))
    assert (summary.base_requests_per_s, summary.peak_factor) == (0.0, None)


def test_daily_users_become_the_busiest_hour_and_its_peak() -> None:
    users = DailyUsers(
        daily_active_users=100_000,
        requests_per_user_per_day=7.2,
        peak_hour_share=0.1,
        peak_within_hour_factor=1.5,
        source="analytics",
    )
    summary, findings = summarize(users, (a_bucket(),))
    assert summary.peak_requests_per_s == 30.0  # 720,000 x 0.1 / 3,600 x 1.5
    assert summary.base_requests_per_s == pytest.approx(720_000 / 86_400)
    assert (summary.origin, findings) == (Origin.DERIVED, ())


def test_an_hour_without_its_own_peak_is_said_to_be_taken_as_flat() -> None:
    users = DailyUsers(daily_active_users=36_000, requests_per_user_per_day=1, peak_hour_share=0.1, source="analytics")
    summary, findings = summarize(users, (a_bucket(),))
    assert summary.peak_requests_per_s == 1.0
    assert codes(findings) == ["PEAK_HOUR_TAKEN_AS_FLAT"]
    assert summary.origin is Origin.ASSUMED


def test_sessions_draw_tokens_and_tokens_make_requests() -> None:
    sessions = Sessions(executing_sessions=50, output_tokens_per_s_per_session=20, source="gateway")
    buckets = (a_bucket(out=100.0, share=0.5), a_bucket(out=300.0, share=0.5))
    summary, _ = summarize(sessions, buckets)
    assert summary.peak_requests_per_s == 5.0  # 1,000 tokens/s over a mean of 200
    assert summary.base_requests_per_s is None
    assert "200 output tokens a request" in summary.equation


def test_sessions_need_requests_that_generate_text() -> None:
    sessions = Sessions(executing_sessions=50, output_tokens_per_s_per_session=20, source="gateway")
    with pytest.raises(InvalidInput, match=r"demand\.sessions"):
        rates(sessions, (DemandBucket(work=AudioWork(audio_s=30.0)),))


def test_tokens_are_totalled_per_bucket_and_in_sum() -> None:
    demand = BaseAndPeak(base_requests_per_s=2.0, peak_factor=2.0, peak_factor_source="log")
    buckets = (a_bucket(1000.0, 100.0, 0.75), DemandBucket(work=text(4000.0, 400.0, hit=0.5), share=0.25))
    summary, _ = summarize(demand, buckets)
    small, large = summary.buckets
    assert (small.peak.input_tokens_per_s, small.peak.output_tokens_per_s) == (3000.0, 300.0)
    assert (large.peak.input_tokens_per_s, large.peak.cached_input_tokens_per_s) == (4000.0, 2000.0)
    assert large.base is not None
    assert large.base.input_tokens_per_s == 2000.0
    total = summary.peak_tokens
    assert total is not None
    assert (total.input_tokens_per_s, total.uncached_input_tokens_per_s) == (7000.0, 5000.0)
    assert (total.output_tokens_per_s, total.total_tokens_per_s) == (700.0, 7700.0)


def test_cached_input_never_shortens_the_output() -> None:
    hit, miss = (
        summarize(PeakRate(peak_requests_per_s=1.0), (DemandBucket(work=text(hit=share)),)) for share in (0.9, 0)
    )
    assert hit[0].peak_tokens is not None
    assert miss[0].peak_tokens is not None
    assert hit[0].peak_tokens.output_tokens_per_s == miss[0].peak_tokens.output_tokens_per_s
    assert hit[0].peak_tokens.total_tokens_per_s == miss[0].peak_tokens.total_tokens_per_s


def test_embeddings_read_and_generate_nothing() -> None:
    work = EmbeddingWork(input_tokens_mean=200.0, items_per_request=8.0)
    summary, _ = summarize(PeakRate(peak_requests_per_s=2.0), (DemandBucket(work=work),))
    assert summary.peak_tokens is not None
    assert (summary.peak_tokens.input_tokens_per_s, summary.peak_tokens.output_tokens_per_s) == (3200.0, 0.0)


def test_audio_has_no_tokens_and_says_so() -> None:
    summary, findings = summarize(PeakRate(peak_requests_per_s=2.0), (DemandBucket(work=AudioWork(audio_s=30.0)),))
    assert (summary.peak_tokens, summary.buckets) == (None, ())
    assert codes(findings) == ["NO_TOKEN_DEMAND"]


def test_shares_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match="do not sum to 1"):
        summarize(PeakRate(peak_requests_per_s=1.0), (a_bucket(share=0.5),))


def test_figures_no_double_holds_are_refused() -> None:
    demand = BaseAndPeak(base_requests_per_s=1e308, peak_factor=1e3, peak_factor_source="typo")
    with pytest.raises(InvalidInput, match="too large"):
        summarize(demand, (a_bucket(),))


def test_the_mean_output_is_weighted_by_share() -> None:
    assert mean_output_tokens((a_bucket(out=100.0, share=0.9), a_bucket(out=1000.0, share=0.1))) == 190
