"""How sure a plan is, in sentences and two small tables."""

from __future__ import annotations

import io

from builders_capacity import a_candidate, a_curve, a_request
from rich.console import Console

from tonnage.capacity.planner import plan
from tonnage.cli.render.plan import plan as parts_of
from tonnage.domain.confidence import ConfidenceOptions, LikelyRange
from tonnage.domain.plan import Depth
from tonnage.planning.codec.plan import encode_plan


def text_of(depth: Depth) -> str:
    options = ConfidenceOptions(peak_requests_per_s=LikelyRange(low=8, high=14), current_server_count=9)
    answer = plan(a_request(depth=depth, confidence=options), [a_candidate(a_curve())], 1, "0.1")
    shown = io.StringIO()
    console = Console(file=shown, width=160)
    for part in parts_of(encode_plan(answer, [])):
        console.print(part)
    return shown.getvalue()


def test_a_plan_says_how_sure_it_is_and_what_matters_most() -> None:
    shown = text_of(Depth.CONFIDENCE)
    assert "2 replicas are enough in" in shown
    assert "of 10000 worlds" in shown
    assert "demand.peak" in shown
    assert "Servers that run now: remove (planned less current -7)." in shown


def test_a_plan_of_base_depth_says_nothing_of_it() -> None:
    assert "worlds" not in text_of(Depth.BASE)
