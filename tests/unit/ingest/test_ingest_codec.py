"""Messages of the ingest service."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_level, a_run

from tonnage.domain.finding import Evidence, Finding, Origin, Severity
from tonnage.errors import InvalidInput
from tonnage.ingest.codec import decode_report_metadata, decode_retraction, decode_upload_key, encode_receipt, gathered
from tonnage.ingest.requests import ReportRequest, RunAnswer
from tonnage.v1 import ingest_service_pb2 as pb

NAMES = [f"namespaces/a/runs/{number}" for number in range(3)]


def a_finding(path: str, message: str = "m", code: str = "TOO_FEW") -> Finding:
    """Return a finding with a piece of evidence."""
    evidence = (Evidence(origin=Origin.MEASURED, quantity=message),)
    return Finding(code=code, severity=Severity.WARNING, message=message, path=path, remedy="r", evidence=evidence)


def test_findings_of_levels_are_told_once_with_their_number_and_all_their_evidence() -> None:
    levels = [replace(a_level(n, n), findings=(a_finding("ttft_p99_ms", f"level {n}"),)) for n in (1, 2, 4)]
    run = a_run(*levels, findings=(a_finding("measured_at", "of the run"),))
    of_run, of_levels = gathered(run)
    assert of_run.message == "of the run"
    assert of_levels.message == "level 1 (and 2 more levels)"
    assert [item.quantity for item in of_levels.evidence] == ["level 1", "level 2", "level 4"]


def test_findings_of_other_paths_stay_apart() -> None:
    level = replace(a_level(1, 1), findings=(a_finding("ttft_p99_ms"), a_finding("e2e_p99_ms")))
    assert [item.path for item in gathered(a_run(level))] == ["ttft_p99_ms", "e2e_p99_ms"]


def test_a_receipt_counts_the_levels_that_may_be_used() -> None:
    run = a_run(a_level(1, 1), replace(a_level(4, 2), usable=False))
    receipt = encode_receipt(RunAnswer(run=run, outcome="STORED", ordinal=3))
    assert (receipt.level_count, receipt.usable_level_count, receipt.ordinal) == (2, 1, 3)
    assert receipt.fingerprint == run.configuration.fingerprint


def test_empty_texts_are_not_stated() -> None:
    assert decode_report_metadata(pb.ReportMetadata()) == ReportRequest()


def test_a_size_of_zero_is_stated() -> None:
    assert decode_report_metadata(pb.ReportMetadata(size_bytes=0)).size_bytes == 0


@pytest.mark.parametrize("namespace", ["a/b", "-a", "a b", "x" * 64, "é"])
def test_what_could_not_stand_in_a_name_is_no_namespace(namespace: str) -> None:
    with pytest.raises(InvalidInput, match=r"metadata\.namespace"):
        decode_report_metadata(pb.ReportMetadata(namespace=namespace))


def test_runs_to_retract_are_taken_apart() -> None:
    request = decode_retraction(pb.RetractRunsRequest(runs=NAMES, reason="r"))
    assert (request.namespace, request.run_ids) == ("a", ("0", "1", "2"))


def test_runs_of_two_namespaces_are_refused_by_position() -> None:
    with pytest.raises(InvalidInput, match=r"runs\[1\]: is of another namespace"):
        decode_retraction(pb.RetractRunsRequest(runs=[NAMES[0], "namespaces/b/runs/1"], reason="r"))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"runs": [], "reason": "r"}, "runs"),
        ({"runs": NAMES, "reason": " "}, "reason"),
        ({"runs": [f"namespaces/a/runs/{n}" for n in range(1001)], "reason": "r"}, "runs"),
    ],
)
def test_a_retraction_of_nothing_of_too_much_or_without_a_reason_is_refused(
    fields: dict[str, object], path: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_retraction(pb.RetractRunsRequest(**fields))  # type: ignore[arg-type]
    assert caught.value.violations[0].path == path


@pytest.mark.parametrize("message", [pb.GetIngestionRequest(), pb.GetIngestionRequest(report_id="")])
def test_an_upload_without_a_key_is_refused(message: pb.GetIngestionRequest) -> None:
    with pytest.raises(InvalidInput, match="is required"):
        decode_upload_key(message)
