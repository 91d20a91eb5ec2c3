"""The accelerator catalog and its names."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tonnage import catalog
from tonnage.catalog import accelerator_table as module
from tonnage.catalog import table
from tonnage.errors import AmbiguousName, InvalidInput, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


def test_the_twelve_ways_to_write_a_card_mean_what_the_case_says(shared: Path) -> None:
    with (shared / "cases/files/s_c7_gpu_names.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: list[str] = []
    for row in rows:
        reported = int(row["reported_mib"]) if row["reported_mib"] else None
        try:
            found.append(catalog.accelerator(row["raw_name"], reported).id)
        except (AmbiguousName, UnknownName) as error:
            found.append(error.reason)
    assert found[0] == found[1] == found[2] == "h100-sxm-80gb"
    distinct = [found[index - 1] for index in (1, 4, 5, 7, 8, 9, 10, 11)]
    assert len(set(distinct)) == len(distinct)
    assert found[5] == "AMBIGUOUS_NAME"
    assert found[11] == "UNKNOWN_NAME"
    high = catalog.accelerator("NVIDIA GH200 480GB", 97_871).usable_high_bytes
    assert high is not None
    assert high / GIB == pytest.approx(95.58, rel=0.01)


def test_an_ambiguous_name_lists_its_candidates() -> None:
    with pytest.raises(AmbiguousName) as caught:
        catalog.accelerator("A100")
    assert caught.value.context["candidates"].split(", ") == [
        "a100-pcie-40gb",
        "a100-pcie-80gb",
        "a100-sxm-40gb",
        "a100-sxm-80gb",
    ]


def test_reported_memory_chooses_among_cards_of_one_name() -> None:
    with pytest.raises(AmbiguousName) as caught:
        catalog.accelerator("A100", 40_960)
    assert caught.value.context["candidates"] == "a100-pcie-40gb, a100-sxm-40gb"
    assert catalog.accelerator("V100 SXM2", 16_160).id == "v100-sxm2-16gb"


def test_memory_of_another_card_is_refused_with_the_field() -> None:
    with pytest.raises(InvalidInput) as caught:
        catalog.accelerator("RTX 4090", 49_140)
    assert caught.value.context["field"] == "reported_mib"


def test_an_unknown_name_is_never_mapped_to_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.accelerator("H100 SXM 96GB")
    assert "h100" in caught.value.context["near"]


@pytest.mark.parametrize("name", ["", "   ", "gpu", "NVIDIA", "80GB", "sxm"])
def test_words_without_a_model_mean_no_card(name: str) -> None:
    with pytest.raises(UnknownName):
        catalog.accelerator(name)


def test_a_slice_is_its_own_device_and_no_candidate_of_the_whole_card() -> None:
    part = catalog.accelerator("H100 NVL MIG 2g.24gb")
    assert part.usable_low_bytes == round(21.62 * GIB)
    with pytest.raises(AmbiguousName) as caught:
        catalog.accelerator("H100")
    assert "mig" not in caught.value.context["candidates"]


def test_every_id_and_alias_means_its_own_card() -> None:
    for item in catalog.accelerators():
        for name in (item.id, item.name, *item.aliases):
            assert catalog.accelerator(name).id == item.id


def test_a_wrong_fact_is_an_error_that_names_row_and_column() -> None:
    text = table.packaged(module.FILE)
    lines = text.splitlines()
    broken = "\n".join([lines[0], lines[1].replace("14.57,14.57", "fourteen,14.57")])
    with pytest.raises(InvalidInput) as caught:
        module.read(broken)
    assert caught.value.context["field"] == "accelerators.csv[2].usable_low_gib"


def test_a_name_of_two_cards_is_an_error_of_the_file() -> None:
    lines = table.packaged(module.FILE).splitlines()
    twin = lines[1].replace("t4,T4", "other,T4", 1)
    with pytest.raises(InvalidInput, match="means"):
        module.read("\n".join([lines[0], lines[1], twin]))
