"""List requests and pages of what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage import checks
from tonnage.errors import at
from tonnage.planning.codec.presence import namespace, text
from tonnage.planning.usecase.listing import ListAsked
from tonnage.rpc.codec.configuration import decode_configuration, encode_configuration
from tonnage.rpc.codec.run import encode_run
from tonnage.rpc.codec.work import encode_work
from tonnage.v1 import benchmark_service_pb2 as pb

if TYPE_CHECKING:
    from tonnage.domain.measurement import Run
    from tonnage.planning.usecase.listing import Listing
    from tonnage.store.base import ConfigurationFacts, Retirement


def decode_configurations(message: pb.ListConfigurationsRequest) -> ListAsked:
    """Return which configurations are listed; raise ``InvalidInput``."""
    with at("filter"):
        configuration, fingerprint = decode_configuration(message.filter)
    return ListAsked(
        namespace=namespace(message.namespace),
        configuration=configuration,
        fingerprint=fingerprint,
        page_size=message.page_size,
        page_token=message.page_token,
    )


def decode_runs(message: pb.ListRunsRequest) -> ListAsked:
    """Return which runs are listed; raise ``InvalidInput``."""
    with at("filter"):
        configuration, fingerprint = decode_configuration(message.filter)
    checks.name("tool", message.tool)
    checks.name("sweep_id", message.sweep_id)
    return ListAsked(
        namespace=namespace(message.namespace),
        configuration=configuration,
        fingerprint=fingerprint,
        page_size=message.page_size,
        page_token=message.page_token,
        tool=text(message.tool),
        sweep_id=text(message.sweep_id),
        include_retired=message.include_retired,
    )


def encode_configurations(listing: Listing[ConfigurationFacts]) -> pb.ListConfigurationsResponse:
    """Return a page of configurations as an answer."""
    return pb.ListConfigurationsResponse(
        configurations=[_summary(facts) for facts in listing.rows],
        next_page_token=listing.next_page_token,
        data_version=listing.data_version,
        total_count=listing.total_count,
    )


def _summary(facts: ConfigurationFacts) -> pb.ConfigurationSummary:
    newest = facts.newest_measured_at
    return pb.ConfigurationSummary(
        configuration=encode_configuration(facts.configuration),
        run_count=facts.run_count,
        level_count=facts.level_count,
        measured_work=[encode_work(work) for work in facts.works],
        missing_for_plan=facts.configuration.missing_for_plan(),
        newest_measured_date="" if newest is None else newest.date().isoformat(),
    )


def encode_runs(listing: Listing[Run]) -> pb.ListRunsResponse:
    """Return a page of runs as an answer."""
    return pb.ListRunsResponse(
        runs=[encode_run(run, with_levels=False) for run in listing.rows],
        next_page_token=listing.next_page_token,
        data_version=listing.data_version,
        total_count=listing.total_count,
    )


def encode_one_run(run: Run, retired: Retirement | None, data_version: int) -> pb.GetRunResponse:
    """Return one run with its levels as an answer."""
    return pb.GetRunResponse(run=encode_run(run), data_version=data_version, retired=retired or "")
