"""Retest requests and items."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from tonnage import checks
from tonnage.capacity.retest import DEFAULT_MAX_AGE_DAYS, Planned, RetestVerdict
from tonnage.errors import at
from tonnage.planning.codec.presence import day, namespace, optional, text
from tonnage.planning.usecase.retest import RetestAsked
from tonnage.rpc.codec.configuration import decode_conditions, decode_configuration, encode_configuration
from tonnage.rpc.codec.enums import TEST_STATE
from tonnage.rpc.codec.finding import encode_evidence, encode_findings, encode_origin
from tonnage.v1 import benchmark_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.capacity.retest import FieldChange, RetestItem
    from tonnage.capacity.states import StateCoverage
    from tonnage.domain.finding import Finding
    from tonnage.planning.usecase.listing import Listing

_VERDICT: Final = {
    RetestVerdict.STANDS: pb.RETEST_VERDICT_STANDS,
    RetestVerdict.ADVISED: pb.RETEST_VERDICT_ADVISED,
    RetestVerdict.REQUIRED: pb.RETEST_VERDICT_REQUIRED,
}


def decode_retest(message: pb.CheckRetestRequest, today: str) -> RetestAsked:
    """Return what is planned; an absent as-of date becomes ``today``; raise ``InvalidInput``."""
    with at("planned"):
        configuration, fingerprint = decode_configuration(message.planned)
    with at("planned_conditions"):
        conditions = decode_conditions(message.planned_conditions)
    checks.name("sample_set", message.sample_set)
    age = optional(message, "max_age_days")
    checks.count("max_age_days", age)
    as_of = day("as_of_date", message.as_of_date) if message.as_of_date else today
    return RetestAsked(
        namespace=namespace(message.namespace),
        planned=Planned(configuration=configuration, conditions=conditions, sample_set=text(message.sample_set)),
        fingerprint=fingerprint,
        as_of=date.fromisoformat(as_of),
        max_age_days=DEFAULT_MAX_AGE_DAYS if age is None else age,
        page_size=message.page_size,
        page_token=message.page_token,
    )


def encode_retest(listing: Listing[RetestItem], findings: Sequence[Finding], as_of: date) -> pb.CheckRetestResponse:
    """Return a page of items as an answer."""
    return pb.CheckRetestResponse(
        items=[_item(item) for item in listing.rows],
        as_of_date=as_of.isoformat(),
        next_page_token=listing.next_page_token,
        data_version=listing.data_version,
        total_count=listing.total_count,
        findings=encode_findings(findings),
    )


def _item(item: RetestItem) -> pb.RetestItem:
    return pb.RetestItem(
        configuration=encode_configuration(item.configuration),
        verdict=_VERDICT[item.verdict],
        changes=[_change(change) for change in item.changes],
        states=[_state(state) for state in item.states],
        states_to_run=[TEST_STATE.encode(state) for state in item.states_to_run],
        age_days=item.age_days,
        findings=encode_findings(item.findings),
    )


def _change(change: FieldChange) -> pb.FieldChange:
    return pb.FieldChange(
        field=change.field,
        measured=change.measured,
        planned=change.planned,
        verdict=_VERDICT[change.verdict],
        reason=change.reason,
        states=[TEST_STATE.encode(state) for state in change.states],
    )


def _state(state: StateCoverage) -> pb.StateCoverage:
    return pb.StateCoverage(
        state=TEST_STATE.encode(state.state),
        covered=state.covered,
        origin=encode_origin(state.origin),
        evidence=None if state.evidence is None else encode_evidence(state.evidence),
    )
