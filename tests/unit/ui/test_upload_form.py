"""What goes with a file, and the name under which it is sent once."""

from __future__ import annotations

import hashlib

from builders_ui import RUN

from tonnage.client import messages as pb
from tonnage_ui.forms.upload import digest, given_labels, sweep_of, upload_key
from tonnage_ui.presenters.uploads import stored
from tonnage_ui.words import words_of

WORDS = words_of("en")


def test_labels_are_what_was_filled_in_and_nothing_else() -> None:
    values = {
        "given_accelerator": " h100-sxm-80gb ",
        "given_engine": "",
        "given_more": "driver_version = 550\n\nno label",
    }
    assert given_labels(values) == {"accelerator": "h100-sxm-80gb", "driver_version": "550"}


def test_the_digest_is_sha256() -> None:
    assert digest(b"abc") == hashlib.sha256(b"abc").hexdigest()


def test_the_same_file_said_the_same_way_has_one_name() -> None:
    assert upload_key("a", {"x": "1", "y": "2"}, "s") == upload_key("a", {"y": "2", "x": "1"}, "s")


def test_other_labels_or_another_sweep_make_another_upload() -> None:
    names = {
        upload_key("a", {}, ""),
        upload_key("a", {"x": "1"}, ""),
        upload_key("a", {}, "s"),
        upload_key("b", {}, ""),
    }
    assert len(names) == 4


def test_the_sweep_of_some_files_does_not_depend_on_their_order() -> None:
    assert sweep_of(["a", "b"]) == sweep_of(["b", "a"]) != sweep_of(["a", "c"])


def _answer(outcome: pb.RunOutcome.ValueType) -> pb.IngestReportResponse:
    receipt = pb.RunReceipt(run=RUN, outcome=outcome, level_count=3, usable_level_count=2, fingerprint="f")
    return pb.IngestReportResponse(format="vllm-bench-serve", runs=[receipt])


def test_each_outcome_has_its_own_words() -> None:
    new = stored("a.json", _answer(pb.RUN_OUTCOME_STORED), WORDS)
    again = stored("a.json", _answer(pb.RUN_OUTCOME_ALREADY_STORED), WORDS)
    refused = stored("a.json", _answer(pb.RUN_OUTCOME_REFUSED), WORDS)
    assert (new.tone, again.tone, refused.tone) == ("success", "info", "error")
    assert again.message.startswith("Already there")
    assert len({new.message, again.message, refused.message}) == 3


def test_a_refused_run_leads_to_no_curve() -> None:
    assert stored("a.json", _answer(pb.RUN_OUTCOME_REFUSED), WORDS).fingerprints == ()
    assert stored("a.json", _answer(pb.RUN_OUTCOME_ALREADY_STORED), WORDS).fingerprints == ("f",)
