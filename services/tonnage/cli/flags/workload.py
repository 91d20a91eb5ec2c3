"""Flags that describe a workload: demand, request sizes, limits, reserve, losses, servers."""

from dataclasses import dataclass, field
from typing import Annotated

from typer import Option

from tonnage.cli import values
from tonnage.client import messages
from tonnage.client.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandFlags:
    """One of: base and factor, the peak, daily users, sessions."""

    rps: Annotated[float | None, Option(help="Requests/s at base load.")] = None
    peak_factor: Annotated[float | None, Option(help="Peak over base, measured; never assumed.")] = None
    peak_factor_source: Annotated[str, Option(help="Where the factor comes from; required with it.")] = ""
    peak_rps: Annotated[float | None, Option(help="Requests/s at peak, when known directly.")] = None
    daily_active_users: Annotated[float | None, Option(help="Users a day; they are not concurrent requests.")] = None
    requests_per_user_per_day: Annotated[float | None, Option(help="Requests one user makes a day.")] = None
    peak_hour_share: Annotated[float | None, Option(help="Share of the day's requests in its busiest hour.")] = None
    peak_within_hour_factor: Annotated[float | None, Option(help="Peak within that hour over its mean.")] = None
    executing_sessions: Annotated[float | None, Option(help="Sessions generating at once.")] = None
    output_tokens_per_s_per_session: Annotated[float | None, Option(help="Output tokens/s each draws.")] = None
    demand_source: Annotated[str, Option(help="Where user or session figures come from.")] = ""

    def message(self) -> messages.Demand:
        """Return the demand stated; none stated is left empty, for the server to refuse."""
        factor = self.peak_factor is not None or self.peak_factor_source != ""
        users = self.daily_active_users is not None
        sessions = self.executing_sessions is not None
        values.only_one(
            [
                ("--peak-rps", self.peak_rps is not None),
                ("--peak-factor", factor),
                ("--daily-active-users", users),
                ("--executing-sessions", sessions),
            ]
        )
        if self.peak_rps is not None:
            return messages.Demand(peak_rate=self._peak())
        if users:
            return messages.Demand(daily_users=self._users())
        if sessions:
            return messages.Demand(sessions=self._sessions())
        return messages.Demand(base_and_peak=self._base()) if factor or self.rps is not None else messages.Demand()

    def _base(self) -> messages.BaseAndPeak:
        return messages.BaseAndPeak(
            base_requests_per_s=self.rps, peak_factor=self.peak_factor, peak_factor_source=self.peak_factor_source
        )

    def _peak(self) -> messages.PeakRate:
        return messages.PeakRate(peak_requests_per_s=self.peak_rps, base_requests_per_s=self.rps)

    def _users(self) -> messages.DailyUsers:
        return messages.DailyUsers(
            daily_active_users=self.daily_active_users,
            requests_per_user_per_day=self.requests_per_user_per_day,
            peak_hour_share=self.peak_hour_share,
            peak_within_hour_factor=self.peak_within_hour_factor,
            source=self.demand_source,
        )

    def _sessions(self) -> messages.Sessions:
        return messages.Sessions(
            executing_sessions=self.executing_sessions,
            output_tokens_per_s_per_session=self.output_tokens_per_s_per_session,
            source=self.demand_source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeFlags:
    """Request sizes: one, or several with their shares."""

    input_tokens: Annotated[float | None, Option(help="Mean prompt tokens.")] = None
    output_tokens: Annotated[float | None, Option(help="Mean generated tokens.")] = None
    prefix_cache_hit_ratio: Annotated[float | None, Option(help="Share of prompt tokens found in a prefix cache.")] = (
        None
    )
    bucket: Annotated[
        list[str],
        Option(
            metavar="share=0.7,input=1000,output=100",
            help="One class of sizes, repeated; other work by its path, as image.megapixels=1.",
        ),
    ] = field(default_factory=list)

    def work(self) -> messages.WorkSize | None:
        """Return the one size, or None when none is stated."""
        text = messages.TextWork(
            input_tokens_mean=self.input_tokens,
            output_tokens_mean=self.output_tokens,
            prefix_cache_hit_ratio=self.prefix_cache_hit_ratio,
        )
        return messages.WorkSize(text=text) if text.ListFields() else None

    def buckets(self) -> list[messages.DemandBucket]:
        """Return the classes of sizes; one size has the whole share."""
        work = self.work()
        values.only_one([("--bucket", bool(self.bucket)), ("--input-tokens", work is not None)])
        if work is not None:
            return [messages.DemandBucket(work=work, share=1.0)]
        return [values.bucket(text) for text in self.bucket]


@dataclass(frozen=True, slots=True, kw_only=True)
class SloFlags:
    """Limits that all must hold."""

    slo: Annotated[
        list[str],
        Option(
            metavar="ttft_p90_ms=500", help="A limit, repeated; also failure_ratio and output_tokens_per_s_per_user."
        ),
    ] = field(default_factory=list)
    allow_statistic_substitution: Annotated[
        bool,
        Option(
            "--allow-statistic-substitution", help="Let a mean or lower percentile stand in for one nobody measured."
        ),
    ] = False

    def message(self) -> messages.Slo | None:
        """Return the limits, or None when none is stated."""
        if not self.slo:
            return None
        return values.slo(self.slo, allow_substitution=self.allow_statistic_substitution)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveFlags:
    """R: whole, in parts, or none; never assumed."""

    reserve: Annotated[float | None, Option(help="Reserve as one ratio: 0.2 adds a fifth.")] = None
    reserve_source: Annotated[str, Option(help="Where it comes from; required with --reserve.")] = ""
    no_reserve: Annotated[bool, Option("--no-reserve", help="Say that no reserve is wanted.")] = False
    growth: Annotated[float | None, Option(help="Growth until the horizon, a ratio.")] = None
    growth_source: Annotated[str, Option(help="Where it comes from.")] = ""
    burst: Annotated[float | None, Option(help="Burst during the scale-up delay, a ratio.")] = None
    burst_source: Annotated[str, Option(help="Where it comes from.")] = ""
    drift: Annotated[float | None, Option(help="Drift of the model or the prompts, a ratio.")] = None
    drift_source: Annotated[str, Option(help="Where it comes from.")] = ""
    colocation: Annotated[float | None, Option(help="Loss to neighbours on the host, a ratio.")] = None
    colocation_source: Annotated[str, Option(help="Where it comes from.")] = ""

    def message(self) -> messages.Reserve | None:
        """Return the reserve stated, or None, for the server to refuse."""
        parts = self._parts()
        values.only_one(
            [
                ("--no-reserve", self.no_reserve),
                ("--reserve", self.reserve is not None),
                ("--growth, --burst, --drift or --colocation", bool(parts.ListFields())),
            ]
        )
        if self.no_reserve:
            return messages.Reserve(none=messages.NoReserve())
        if self.reserve is not None:
            return messages.Reserve(whole=messages.ReservePart(ratio=self.reserve, source=self.reserve_source))
        return messages.Reserve(parts=parts) if parts.ListFields() else None

    def _parts(self) -> messages.ReserveParts:
        parts = messages.ReserveParts()
        for name in ("growth", "burst", "drift", "colocation"):
            ratio, source = getattr(self, name), getattr(self, f"{name}_source")
            if ratio is not None:
                getattr(parts, name).CopyFrom(messages.ReservePart(ratio=ratio, source=source))
            elif source:
                raise BadInput.field(f"--{name}-source", f"has no ratio beside it; give --{name} too")
        return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverFlags:
    """Loss to survive at peak, apart from the reserve."""

    failover_replicas: Annotated[int | None, Option(help="Replicas lost at once.")] = None
    failover_servers: Annotated[int | None, Option(help="Servers lost at once.")] = None
    zones: Annotated[int | None, Option(help="Zones the replicas are spread over.")] = None
    lost_zones: Annotated[int | None, Option(help="Zones lost at once.")] = None

    def message(self) -> messages.Failover | None:
        """Return the loss stated, or None."""
        zones = self.zones is not None or self.lost_zones is not None
        values.only_one(
            [
                ("--failover-replicas", self.failover_replicas is not None),
                ("--failover-servers", self.failover_servers is not None),
                ("--zones", zones),
            ]
        )
        if zones:
            loss = values.made(messages.ZoneLoss, {}, zone_count=self.zones, lost_zone_count=self.lost_zones)
            return messages.Failover(zones=loss)
        stated = values.made(
            messages.Failover,
            {"lost_replica_count": "--failover-replicas", "lost_server_count": "--failover-servers"},
            lost_replica_count=self.failover_replicas,
            lost_server_count=self.failover_servers,
        )
        return stated if stated.WhichOneof("kind") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFlags:
    """The host replicas are put on, and its price."""

    accelerators_per_server: Annotated[int | None, Option(help="Accelerators of one server.")] = None
    price_per_hour: Annotated[float | None, Option(help="Price of one server and hour.")] = None
    price_currency: Annotated[str, Option(help="ISO 4217; required with a price.")] = ""
    price_source: Annotated[str, Option(help="Where the price comes from; required with it.")] = ""
    price_as_of: Annotated[str, Option(metavar="YYYY-MM-DD", help="Date of the price; required with it.")] = ""

    def message(self) -> messages.ServerShape | None:
        """Return the server stated, or None."""
        price = values.made(
            messages.Money,
            {},
            amount=self.price_per_hour,
            currency=self.price_currency,
            source=self.price_source,
            as_of_date=self.price_as_of,
        )
        stated = values.made(
            messages.ServerShape,
            {},
            accelerators_per_server=self.accelerators_per_server,
            price_per_hour=price if price.ListFields() else None,
        )
        return stated if stated.ListFields() else None
