"""Flags of a simulation: scenarios and the nature of the traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Option

from tonnage.cli import values
from tonnage.client import messages
from tonnage.client.errors import BadInput

_CURE = "write steady, burst=HEIGHT:LENGTH_S[:RECOVERY_S], loss[=SERVERS[:OUTAGE_S]] or cold_start=SECONDS[:REPLICAS]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationFlags:
    """What is simulated."""

    scenario: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=FIGURES",
            help="What the count goes through, as often as wanted: steady, burst=HEIGHT:LENGTH_S[:RECOVERY_S], "
            "loss[=SERVERS[:OUTAGE_S]] or cold_start=SECONDS[:REPLICAS]; steady by default.",
        ),
    ] = None
    seed: Annotated[int | None, Option(help="Seed of the traffic; 0 by default.")] = None
    duration_s: Annotated[float | None, Option(help="Seconds judged of a steady load; by default as many as tell.")] = (
        None
    )
    arrival_cv: Annotated[
        float | None, Option(help="Variation of the gaps between arrivals; 1, Poisson, by default.")
    ] = None
    work_cv: Annotated[float | None, Option(help="Variation of the work of requests; as measured by default.")] = None
    candidate: Annotated[str, Option(help="Fingerprint of the candidate that is simulated; the best by default.")] = ""

    def message(self) -> messages.SimulatePlanRequest:
        """Return what they state, without the subject."""
        request = values.made(
            messages.SimulatePlanRequest,
            {name: f"--{name.replace('_', '-')}" for name in ("seed", "duration_s", "arrival_cv", "work_cv")},
            seed=self.seed,
            duration_s=self.duration_s,
            arrival_cv=self.arrival_cv,
            work_cv=self.work_cv,
            fingerprint=self.candidate,
        )
        request.scenarios.extend(scenario(text) for text in self.scenario or ())
        return request


def scenario(text: str) -> messages.SimulationScenario:
    """Return the scenario of a flag's words; raise ``BadInput`` for words that mean none."""
    name, separator, rest = text.partition("=")
    given = [values.figure("--scenario", item) for item in rest.split(":")] if separator else []
    made = messages.SimulationScenario()
    fields = {
        "steady": (made.steady_peak, ()),
        "burst": (made.burst, ("height_ratio", "length_s", "allowed_recovery_s")),
        "loss": (made.lost_server, ("lost_server_count", "outage_s")),
        "cold_start": (made.cold_start, ("cold_start_s", "added_replica_count")),
    }
    if name not in fields or len(given) > len(fields[name][1]):
        raise BadInput.field("--scenario", f"{text!r} is no scenario; {_CURE}")
    part, names = fields[name]
    part.SetInParent()
    for field, value in zip(names, given, strict=False):
        if field.endswith("_count") and not value.is_integer():
            raise BadInput.field("--scenario", f"{value:g} is no count in {text!r}; {_CURE}")
        setattr(part, field, int(value) if field.endswith("_count") else value)
    return made
