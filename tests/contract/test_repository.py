"""What holds for the repository as a whole: locks, stubs, import contracts, what may be written where."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-gen.lock", "requirements-image.lock"])
def test_the_lock_names_no_host(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "--hash=sha256:" in text
    assert not re.search(r"https?://|index-url|find-links|file:", text)


def test_no_tracked_text_names_a_registry_or_a_local_path() -> None:
    wrong = re.compile("|".join(("pypi" + r"\.org", "python" + "hosted", "/wo" + "rk/", r"registry\.npm" + "js")))
    found = []
    for path in _tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if wrong.search(text):
            found.append(str(path.relative_to(ROOT)))
    assert found == []


def _contracts() -> list[dict[str, object]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, object]] = settings["tool"]["importlinter"]["contracts"]
    return contracts


# One forbidden import a contract, with the file it is planted in.
_BREACHES = {
    "Servers stand on rpc, rpc on the core, the core on the domain": ("capacity/slo.py", "import tonnage.store.base"),
    "The command line stands on the client, the client on the stubs": ("client/__init__.py", "import tonnage.cli"),
    "The client is light": ("client/__init__.py", "import duckdb"),
    "The command line is thin": ("cli/__init__.py", "import tonnage.capacity"),
    "The core knows no wire, no store, no page": ("capacity/slo.py", "import grpc"),
    "The store and the readers know no wire": ("store/base.py", "import grpc"),
    "Planning reads no files, ingest does no capacity maths": ("planning/__init__.py", "import tonnage.formats"),
    "Ingest does no capacity maths": ("ingest/__init__.py", "import tonnage.capacity"),
    "Use cases never see the stubs": ("rpc/paging.py", "import grpc"),
}


def test_every_import_contract_has_a_breach_to_prove_it() -> None:
    assert {str(contract["name"]) for contract in _contracts()} == set(_BREACHES)


@pytest.mark.slow
@pytest.mark.parametrize("contract", sorted(_BREACHES))
def test_an_import_contract_breaks_when_it_should(contract: str, tmp_path: Path) -> None:
    where, line = _BREACHES[contract]
    shutil.copytree(ROOT / "services", tmp_path / "services", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = tmp_path / "services" / "tonnage" / where
    planted.write_text(planted.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8")
    answer = subprocess.run(
        [BIN / "lint-imports", "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "services"), "PATH": str(BIN)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert f"{contract} BROKEN" in answer.stdout


def test_the_bare_install_is_the_client_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(re.split(r"[<>=]", need)[0] for need in project["dependencies"]) == ["grpcio", "protobuf"]


def test_every_suppression_carries_its_reason() -> None:
    bare = re.compile(r"# noqa(?!: [A-Z0-9, ]+ -- \S)")
    here = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _tracked()
        if path.suffix == ".py" and "/v1/" not in str(path) and path != here
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []
