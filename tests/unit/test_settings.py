"""Settings: flags over variables, and every mistake named at the start."""

from __future__ import annotations

import pytest

from tonnage.errors import InvalidInput
from tonnage.settings import PROCESSES, IngestSettings, PlanningSettings, known_variables, load, table

STORE = {"TONNAGE_STORE": "lake:///srv/store"}


def refused(arguments: list[str], environment: dict[str, str]) -> dict[str, str]:
    """Return the settings that are refused, with what is said of them."""
    with pytest.raises(InvalidInput) as caught:
        load(IngestSettings, arguments, environment)
    return {item.path: str(item) for item in caught.value.violations}


def test_a_server_listens_on_loopback_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_STORE", "lake:///srv/store")
    settings = load(IngestSettings, [])
    assert (settings.host, settings.ingest_port, settings.store) == ("127.0.0.1", 7052, "lake:///srv/store")


def test_a_flag_wins_over_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_INGEST_PORT", "1000")
    assert load(IngestSettings, ["--store", "lake:///a", "--port", "2000"]).ingest_port == 2000


def test_the_port_of_the_other_process_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_INGEST_PORT", "1000")
    assert load(PlanningSettings, ["--store", "lake:///a"]).planning_port == 7051


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_TOKEN_FILE", "")
    assert load(IngestSettings, ["--store", "lake:///a"]).token_file is None


def test_no_store_is_refused_with_the_variable_and_the_flag() -> None:
    found = refused([], {})
    assert "TONNAGE_STORE" in found["store"]
    assert "--store" in found["store"]


@pytest.mark.parametrize(
    ("flag", "value", "field"),
    [
        ("--port", "70000", "ingest_port"),
        ("--port", "-1", "ingest_port"),
        ("--port", "http", "ingest_port"),
        ("--drain-s", "nan", "drain_s"),
        ("--drain-s", "0", "drain_s"),
        ("--log-level", "loud", "log_level"),
        ("--max-report-bytes", "12", "max_report_bytes"),
        ("--commit-window-s", "inf", "commit_window_s"),
        ("--host", "", "host"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(flag: str, value: str, field: str) -> None:
    assert set(refused(["--store", "lake:///a", flag, value], {})) == {field}


def test_every_mistake_is_named_at_once() -> None:
    assert set(refused(["--port", "x", "--drain-s", "x"], {})) == {"store", "ingest_port", "drain_s"}


def test_half_a_tls_pair_is_refused() -> None:
    found = refused(["--store", "lake:///a", "--tls-cert-file", "cert.pem"], {})
    assert "go together" in found["settings"]


def test_a_client_authority_without_tls_is_refused() -> None:
    found = refused(["--store", "lake:///a", "--tls-client-ca-file", "ca.pem"], {})
    assert "needs tls_cert_file" in found["settings"]


def test_a_misspelt_variable_is_refused_with_the_right_one() -> None:
    assert "TONNAGE_STORE" in refused([], {"TONNAGE_STOER": "lake:///a"})["TONNAGE_STOER"]


@pytest.mark.parametrize("name", ["TONNAGE_TOKEN", "TONNAGE_PLANNING", "TONNAGE_SOMETHING_ELSE", "TONNAGEX", "PORT"])
def test_variables_of_others_are_left_alone(name: str) -> None:
    assert name not in refused(["--store", "lake:///a", "--port", "x"], {name: "x"})


def test_an_unknown_flag_ends_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        load(IngestSettings, ["--prot", "1"], {})
    assert caught.value.code == 2
    assert "--prot" in capsys.readouterr().err


def test_the_table_lists_every_setting_of_every_process() -> None:
    text = table()
    fields = {field for kind in PROCESSES.values() for field in kind.model_fields}
    assert [field for field in fields if f"`TONNAGE_{field.upper()}`" not in text] == []
    assert all(info.description for kind in PROCESSES.values() for info in kind.model_fields.values())


def test_known_variables_hold_those_of_the_client() -> None:
    assert {"TONNAGE_STORE", "TONNAGE_TOKEN", "TONNAGE_INGEST_PORT", "TONNAGE_PLANNING_PORT"} <= set(known_variables())
