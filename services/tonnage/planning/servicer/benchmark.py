"""BenchmarkService."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tonnage.planning.codec import curve as curve_codec
from tonnage.planning.codec import listing as listing_codec
from tonnage.planning.codec import retest as retest_codec
from tonnage.planning.codec.presence import optional
from tonnage.planning.usecase import curve, listing, retest
from tonnage.rpc.codec.run import run_name_parts

if TYPE_CHECKING:
    import grpc.aio

    from tonnage.planning.desk import Desk
    from tonnage.v1 import benchmark_service_pb2 as pb

    Context = grpc.aio.ServicerContext[Any, Any]

REPEATED: Final = ("ListConfigurations", "GetCurve", "CheckRetest")


class BenchmarkServicer:
    """Shows what was measured."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListConfigurations(  # noqa: N802 -- the name in the proto
        self, request: pb.ListConfigurationsRequest, context: Context
    ) -> pb.ListConfigurationsResponse:
        """List configurations with at least one live run."""
        asked = listing_codec.decode_configurations(request)
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        found = await self._desk.run(partial(listing.configurations, asked, snapshot))
        return listing_codec.encode_configurations(found)

    async def ListRuns(self, request: pb.ListRunsRequest, context: Context) -> pb.ListRunsResponse:  # noqa: N802 -- the name in the proto
        """List runs, newest first."""
        asked = listing_codec.decode_runs(request)
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        return listing_codec.encode_runs(await self._desk.run(partial(listing.runs, asked, snapshot)))

    async def GetRun(self, request: pb.GetRunRequest, context: Context) -> pb.GetRunResponse:  # noqa: N802 -- the name in the proto
        """Show one run with its levels."""
        namespace, run_id = run_name_parts(request.name, "name")
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        run, retired = await self._desk.run(partial(snapshot.run, namespace, run_id))
        return listing_codec.encode_one_run(run, retired, snapshot.data_version)

    async def GetCurve(self, request: pb.GetCurveRequest, context: Context) -> pb.GetCurveResponse:  # noqa: N802 -- the name in the proto
        """Show one curve, with Q_slo when an SLO is given."""
        asked = curve_codec.decode_curve(request)
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        return curve_codec.encode_curve(await self._desk.run(partial(curve.curve, asked, snapshot, self._desk.book)))

    async def CheckRetest(self, request: pb.CheckRetestRequest, context: Context) -> pb.CheckRetestResponse:  # noqa: N802 -- the name in the proto
        """Say what has to be measured again."""
        asked = retest_codec.decode_retest(request, self._desk.today())
        snapshot = await self._desk.snapshot(optional(request, "min_data_version"), context)
        listing, findings = await self._desk.run(partial(retest.retest, asked, snapshot, self._desk.book))
        return retest_codec.encode_retest(listing, findings, asked.as_of)
