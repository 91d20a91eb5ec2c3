"""Shipped alerts and dashboard ask only for figures the servers export, and each alert is explained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from prometheus_client import generate_latest

from tonnage.rpc.metrics import GAUGES, Meter

ROOT = Path(__file__).resolve().parents[2]
RULES = yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((ROOT / "deploy" / "dashboard.json").read_text())


def exported() -> set[str]:
    """Return the names on the page of a server that answered a call."""
    meter = Meter()
    meter.gauges(dict.fromkeys(GAUGES, lambda: 1.0))
    meter.began()
    meter.ended("/tonnage.v1.PlanningService/PlanCapacity", "OK", 0.1)
    page = generate_latest(meter.registry).decode()
    return {re.split(r"[{ ]", line)[0] for line in page.splitlines() if line and not line.startswith("#")}


def asked(expression: str) -> set[str]:
    """Return the names an expression asks for."""
    return set(re.findall(r"\btonnage_[a-z_]+", expression))


def test_every_alert_asks_for_figures_that_are_exported() -> None:
    for rule in RULES:
        assert asked(rule["expr"]), rule["alert"]
        assert asked(rule["expr"]) <= exported(), rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")


def test_every_alert_is_explained() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    assert [rule["alert"] for rule in RULES if f"| {rule['alert']} |" not in text] == []


def test_every_panel_asks_for_figures_that_are_exported() -> None:
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    assert all(asked(expression) for expression in expressions)
    assert set().union(*map(asked, expressions)) <= exported()
    assert set(GAUGES) <= set().union(*map(asked, expressions))


def test_panels_have_ids_of_their_own_and_do_not_lie_on_each_other() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
