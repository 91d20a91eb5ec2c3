"""Compose file and Kubernetes manifests: valid by their schemas, and of commands and settings that exist."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from importlib import resources
from pathlib import Path
from typing import Any, Final

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tonnage import settings
from tonnage.settings import IngestSettings, PlanningSettings
from tonnage.store.url import EmbeddedPlace, ScaleOutPlace, parse_store_url

ROOT: Final = Path(__file__).resolve().parents[2]
COMPOSE: Final = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANIFESTS: Final = [
    document
    for path in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
    if path.name != "kustomization.yaml"
    for document in yaml.safe_load_all(path.read_text())
]
KUBERNETES: Final = "1.33"
KINDS: Final[dict[str, type[IngestSettings | PlanningSettings]]] = {
    "tonnage.ingest": IngestSettings,
    "tonnage.planning": PlanningSettings,
}


def kind_of(command: list[str]) -> type[IngestSettings | PlanningSettings] | None:
    """Return the settings of the server a command starts; None for another program."""
    return KINDS.get(command[2]) if command[:2] == ["python", "-m"] else None


def loaded_with(
    kind: type[IngestSettings | PlanningSettings], environment: dict[str, str], at: pytest.MonkeyPatch
) -> IngestSettings | PlanningSettings:
    """Return the settings a process has in an environment."""
    for name in [name for name in os.environ if name.startswith("TONNAGE_")]:
        at.delenv(name)
    for name, value in environment.items():
        at.setenv(name, value)
    return settings.load(kind, [])


def expanded(text: str) -> str:
    """Return a compose value as it is where no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def containers() -> list[tuple[str, dict[str, Any]]]:
    """Return the containers of the deployments by name."""
    return [
        (manifest["metadata"]["name"], container)
        for manifest in MANIFESTS
        if manifest["kind"] == "Deployment"
        for container in manifest["spec"]["template"]["spec"]["containers"]
    ]


def test_the_compose_file_is_valid_by_its_own_schema() -> None:
    vendored = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema = json.loads(vendored.read_text())
    jsonschema.validate(COMPOSE, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**COMPOSE, "services": {"ingest": {"imagee": "x"}}}, schema)


@pytest.mark.parametrize("name", ["ingest", "planning"])
def test_compose_starts_servers_with_settings_they_take(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = COMPOSE["services"][name]
    kind = kind_of(service["command"])
    assert kind is not None
    given = {key: expanded(value) for key, value in service["environment"].items()}
    loaded = loaded_with(kind, given, monkeypatch)
    assert f"127.0.0.1:{getattr(loaded, f'{name}_port')}:{getattr(loaded, f'{name}_port')}" in service["ports"]
    assert isinstance(parse_store_url(loaded.store), EmbeddedPlace)


def test_the_scale_out_profile_is_what_its_comment_says() -> None:
    profiled = {name for name, service in COMPOSE["services"].items() if service.get("profiles") == ["scale-out"]}
    assert profiled == {"postgres", "objects"}
    told = re.search(r"TONNAGE_STORE='([^']+)'", (ROOT / "compose.yaml").read_text())
    assert told is not None
    place = parse_store_url(told.group(1))
    assert isinstance(place, ScaleOutPlace)
    assert place.catalog == "postgresql://tonnage@postgres/tonnage"
    assert place.endpoint == "http://objects:8333"


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda item: f"{item['kind']}-{item['metadata']['name']}")
def test_a_manifest_is_valid_by_kubernetes_schema(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifest, "specc": {}}, KUBERNETES, strict=True)


def test_the_manifests_start_servers_with_settings_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    (config,) = [manifest["data"] for manifest in MANIFESTS if manifest["kind"] == "ConfigMap"]
    servers = [(name, item, kind) for name, item in containers() if (kind := kind_of(item["args"])) is not None]
    assert {name for name, _, _ in servers} == {"ingest", "planning"}
    for name, container, kind in servers:
        own = {entry["name"]: entry["value"] for entry in container["env"]}
        loaded = loaded_with(kind, {**config, **own}, monkeypatch)
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert ports["grpc"] == container["readinessProbe"]["grpc"]["port"] == getattr(loaded, f"{name}_port")
        assert ports["metrics"] == loaded.metrics_port
        assert isinstance(parse_store_url(loaded.store), ScaleOutPlace)


def test_no_secret_is_shipped() -> None:
    assert [manifest for manifest in MANIFESTS if manifest["kind"] == "Secret"] == []
    assert all("@" not in str(value) or ":" not in str(value).split("@")[0].split("//")[-1] for value in _values())


def _values() -> list[str]:
    (config,) = [manifest["data"] for manifest in MANIFESTS if manifest["kind"] == "ConfigMap"]
    return list(config.values())


def test_every_file_of_the_kustomization_is_there_and_none_is_left_out() -> None:
    folder = ROOT / "deploy" / "kubernetes"
    named = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert sorted(named) == sorted(path.name for path in folder.glob("*.yaml") if path.name != "kustomization.yaml")


def test_the_image_has_what_the_commands_need() -> None:
    lines = (ROOT / "Dockerfile").read_text()
    copied = {word for line in re.findall(r"^COPY (.+)$", lines, re.MULTILINE) for word in line.split()[:-1]}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"services", "ui", "requirements-image.lock"} <= copied
    assert importlib.util.find_spec("tonnage.ingest") is not None
    locked = (ROOT / "requirements-image.lock").read_text()
    extensions = ("duckdb-extension-ducklake", "duckdb-extension-postgres-scanner", "duckdb-extension-httpfs")
    needed = ("duckdb", *extensions, "obstore", "psycopg", "streamlit")
    assert [name for name in needed if f"\n{name}==" not in f"\n{locked}"] == []
    assert "pytest==" not in locked
