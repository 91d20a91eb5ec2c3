"""One spelling for the names a file uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import a_level, a_run

from tonnage.domain.configuration import Conditions, Configuration
from tonnage.ingest.names import given_accelerator, normal_run, settled_names, without_aliases

if TYPE_CHECKING:
    from tonnage.domain.measurement import Run


def of(**stated: object) -> Run:
    """Return a run whose file states this."""
    return a_run(a_level(4, 2), configuration=Configuration(**stated))  # type: ignore[arg-type]


def codes(run: Run) -> list[str]:
    """Return the codes of the run's findings."""
    return [finding.code for finding in run.findings]


def test_names_come_out_in_one_spelling() -> None:
    found = normal_run(
        of(engine="TRT-LLM", weight_precision="BF16", kv_cache_type="float8", accelerator="H100-SXM5-80GB")
    )
    assert found.configuration == Configuration(
        engine="tensorrt-llm", weight_precision="bf16", kv_cache_type="fp8", accelerator="h100-sxm-80gb"
    )


def test_the_patch_version_moves_to_the_conditions() -> None:
    found = normal_run(of(engine_version="0.19.2"))
    assert (found.configuration.engine_version, found.conditions.engine_patch_version) == ("0.19", "0.19.2")


def test_a_patch_version_the_file_states_stands() -> None:
    run = a_run(
        a_level(4, 2),
        configuration=Configuration(engine_version="0.19.2"),
        conditions=Conditions(engine_patch_version="0.19.2+cu129"),
    )
    assert normal_run(run).conditions.engine_patch_version == "0.19.2+cu129"


@pytest.mark.parametrize("text", ["auto", "None", "unknown"])
def test_a_precision_left_to_the_engine_is_not_stated(text: str) -> None:
    assert normal_run(of(weight_precision=text)).configuration.weight_precision is None


def test_a_card_that_means_several_is_not_stated_and_asked_for() -> None:
    found = settled_names(normal_run(of(accelerator="NVIDIA H100")))
    assert found.configuration.accelerator is None
    assert codes(found) == ["ACCELERATOR_AMBIGUOUS"]
    assert "h100-pcie-80gb" in found.findings[0].remedy


def test_a_card_nobody_knows_is_kept_and_said() -> None:
    found = settled_names(normal_run(of(accelerator="warp-drive-9")))
    assert found.configuration.accelerator == "warp-drive-9"
    assert codes(found) == ["ACCELERATOR_UNKNOWN"]


def test_a_known_card_needs_no_finding() -> None:
    assert codes(settled_names(normal_run(of(accelerator="h100-sxm-80gb")))) == []


def test_the_given_card_makes_the_files_loose_name_precise() -> None:
    found = without_aliases(normal_run(of(accelerator="H100")), model=None, accelerator="h100-sxm-80gb")
    assert found.configuration.accelerator is None
    assert codes(found) == ["NAME_GIVEN"]


@pytest.mark.parametrize(("found", "given"), [("H100", "a100-sxm-80gb"), ("h100-pcie-80gb", "h100-sxm-80gb")])
def test_another_card_than_the_file_may_mean_stays_a_contradiction(found: str, given: str) -> None:
    run = normal_run(of(accelerator=found))
    assert without_aliases(run, model=None, accelerator=given) == run


def test_a_servers_alias_gives_way_to_the_model_that_holds_it() -> None:
    run = normal_run(of(model="smollm2-135m"))
    found = without_aliases(run, model="HuggingFaceTB/SmolLM2-135M-Instruct", accelerator=None)
    assert found.configuration.model is None
    assert "smollm2-135m" in found.findings[0].message


@pytest.mark.parametrize(
    ("found", "given"),
    [
        ("smollm2-135m", "meta-llama/Llama-3.1-8B-Instruct"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B"),
    ],
)
def test_another_model_stays_a_contradiction(found: str, given: str) -> None:
    run = normal_run(of(model=found))
    assert without_aliases(run, model=given, accelerator=None) == run


def test_a_given_card_the_catalog_lacks_keeps_its_name() -> None:
    assert given_accelerator("our-card") == "our-card"
