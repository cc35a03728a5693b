"""The two type checkers, each as a user would set it up: strict, and with nothing of this repository's settings."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_PYRIGHT_SETTINGS = {"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": "error", "include": ["."]}
_MYPY_SETTINGS = "[mypy]\nstrict = True\nwarn_unreachable = True\n"


def named_by_mypy(folder: Path, name: str) -> dict[int, str]:
    """The lines of a file that mypy names, with what it says first of each."""
    (folder / "mypy.ini").write_text(_MYPY_SETTINGS)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    named: dict[int, str] = {}
    for file, line, said in re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        assert file == name, f"mypy finds fault with {file}: {said}"
        named.setdefault(int(line), said)
    return named


def named_by_pyright(folder: Path, name: str) -> dict[int, str]:
    """The lines of a file that pyright names, with what it says first of each."""
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT_SETTINGS))
    named: dict[int, str] = {}
    for one in _pyright(folder, name)["generalDiagnostics"]:
        assert one["file"] == str(folder / name), one
        named.setdefault(one["range"]["start"]["line"] + 1, one["message"])
    return named


def type_completeness(package: str, source: Path, folder: Path) -> dict[str, Any]:
    """What pyright says of a package's public types: `completenessScore`, and `symbols` with their faults.

    It looks for the package along Python's own path, but does not read the file by which an editable install is there.
    """
    arguments = ("--verifytypes", package, "--ignoreexternal")
    completeness: dict[str, Any] = _pyright(folder, *arguments, PYTHONPATH=str(source))["typeCompleteness"]
    return completeness


def _pyright(folder: Path, *arguments: str, **variables: str) -> dict[str, Any]:
    """What pyright answers, as it writes it in JSON."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *arguments]
    # It is pinned: the wrapper's own news of newer versions would need a network.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    answered: dict[str, Any] = json.loads(done.stdout)
    return answered
