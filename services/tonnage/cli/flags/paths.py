"""Which flag stands behind a field of a request, for telling what a server refused."""

from typing import Final

_WORKLOAD: Final = {
    "model": "--model",
    "demand": "--rps with --peak-factor, or --peak-rps",
    "demand.base_and_peak.base_requests_per_s": "--rps",
    "demand.base_and_peak.peak_factor": "--peak-factor",
    "demand.base_and_peak.peak_factor_source": "--peak-factor-source",
    "demand.peak_rate.peak_requests_per_s": "--peak-rps",
    "demand.peak_rate.base_requests_per_s": "--rps",
    "demand.daily_users.daily_active_users": "--daily-active-users",
    "demand.daily_users.requests_per_user_per_day": "--requests-per-user-per-day",
    "demand.daily_users.peak_hour_share": "--peak-hour-share",
    "demand.daily_users.peak_within_hour_factor": "--peak-within-hour-factor",
    "demand.daily_users.source": "--demand-source",
    "demand.sessions.executing_sessions": "--executing-sessions",
    "demand.sessions.output_tokens_per_s_per_session": "--output-tokens-per-s-per-session",
    "demand.sessions.source": "--demand-source",
    "buckets": "--input-tokens and --output-tokens, or --bucket",
    "buckets[0].work.text.input_tokens_mean": "--input-tokens",
    "buckets[0].work.text.output_tokens_mean": "--output-tokens",
    "buckets[0].work.text.prefix_cache_hit_ratio": "--prefix-cache-hit-ratio",
    "slo": "--slo",
    "slo.max_failure_ratio": "--slo failure_ratio",
    "slo.min_output_tokens_per_s_per_user": "--slo output_tokens_per_s_per_user",
    "reserve": "--reserve, --growth ... or --no-reserve",
    "reserve.whole.ratio": "--reserve",
    "reserve.whole.source": "--reserve-source",
    "failover": "--failover-replicas",
    "failover.lost_replica_count": "--failover-replicas",
    "failover.lost_server_count": "--failover-servers",
    "failover.zones.zone_count": "--zones",
    "failover.zones.lost_zone_count": "--lost-zones",
    "server.accelerators_per_server": "--accelerators-per-server",
    "server.price_per_hour.amount": "--price-per-hour",
    "server.price_per_hour.currency": "--price-currency",
    "server.price_per_hour.source": "--price-source",
    "server.price_per_hour.as_of_date": "--price-as-of",
} | {
    f"reserve.parts.{part}.{field}": f"--{part}" + ("-source" if field == "source" else "")
    for part in ("growth", "burst", "drift", "colocation")
    for field in ("ratio", "source")
}

# The same fields stand under `workload` in a plan, and at the top of the smaller requests.
FLAGS: Final = (
    {f"workload.{path}": flag for path, flag in _WORKLOAD.items()}
    | _WORKLOAD
    | {
        "as_of_date": "--as-of",
        "min_data_version": "--min-data-version",
        "effective_capacity_ratio": "--effective-capacity",
        "replica_count": "--replicas",
        "question.request_tokens": "--request-tokens",
        "question.concurrency": "--concurrency",
        "question.memory_utilization_ratio": "--memory-utilization",
        "question.model": "--model",
        "question.accelerator": "--accelerator",
        "question.engine": "--engine",
    }
)
