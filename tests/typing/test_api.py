"""The public API is typed as a user writes it, and does what the types say."""

import subprocess
import sys
from pathlib import Path

import ethogram
from tests.typing import api

ROOT = Path(__file__).parents[2]


def test_a_users_code_is_typed() -> None:
    """Strict checking infers the documented types, and refuses each line that is wrong on purpose."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "tests/typing/api.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_users_code_runs() -> None:
    """What is type-checked also does what it says."""
    event = api.stamp_a_draft()
    raw = ethogram.serialise_event(event)
    assert api.read_and_write(raw) == raw
    assert api.validate("agent.text", {"text": "x"}) is None
    assert api.validate("agent.text", {"text": "x" * 16_385}) == "OverBound"
    assert api.fold(api.sink_events()) == {"run-1": 2}
    assert api.cut("x" * 4097) == ("x" * 4096, True)
    assert api.tell_errors_apart(b"{}") == "v"
    assert api.tell_errors_apart(raw) == ""
