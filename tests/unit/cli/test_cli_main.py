"""The outermost frame of the command."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tonnage.cli.__main__ import status_of


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_a_bare_install_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None; from tonnage.cli.__main__ import main; main(['plan'])"
    ended = _python(code)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: typer is not installed; install tonnage[cli]\n"


def test_without_a_command_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of([]) == 0
    assert "Commands:" in capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tonnage 0.")


def test_a_command_nearly_right_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["pan"]) == 2
    assert "Did you mean 'plan'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [("tonnage pl", "1", "plan"), ("tonnage plan --rese", "2", "--reserve"), ("tonnage runs l", "2", "list")],
)
def test_the_shell_completes_commands_and_their_flags(words: str, at: str, expected: str) -> None:
    code = "from tonnage.cli.__main__ import main; main([])"
    ended = _python(code, _TONNAGE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=at)
    assert expected in ended.stdout.splitlines()


def test_a_reader_that_goes_away_is_no_fault() -> None:
    line = f"{sys.executable} -m tonnage.cli --help | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("0\n", "")
