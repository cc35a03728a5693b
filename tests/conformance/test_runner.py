"""The runner itself: what it compares, what it refuses to pass over, and how it ends."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ethogram
from conformance.adapters import ADAPTERS
from conformance.compare import agree
from conformance.runner import run
from conformance.vectors import expand

GOOD = {"id": "e", "op": "excerpt", "input": {"text": "ab", "max": 1}, "expect": {"text": "a", "truncated": True}}


def report(tmp_path: Path, *lines: Any) -> tuple[int, list[str]]:  # noqa: ANN401 - vectors, or lines that are none
    """Exit code and report of a run over one file of these lines."""
    path = tmp_path / "vectors.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    out = io.StringIO()
    return run([path], out), out.getvalue().splitlines()


def test_passing_cases_are_counted(tmp_path: Path) -> None:
    """The last line counts what passed and what failed, and all passing is exit code 0."""
    assert report(tmp_path, GOOD, "", GOOD) == (0, ["2 passed, 0 failed"])


def test_failures_show_both_verdicts(tmp_path: Path) -> None:
    """A failure names the case, its place, what was wanted and what came."""
    code, lines = report(tmp_path, GOOD, GOOD | {"id": "bad", "expect": {"text": "a", "truncated": 1}})
    assert code == 1
    assert lines[0].startswith("FAILED bad (")
    assert "vectors.jsonl:2" in lines[0]
    assert "'truncated': 1" in lines[1]
    assert "'truncated': True" in lines[2]
    assert lines[-1] == "1 passed, 1 failed"


def test_unknown_operations_fail(tmp_path: Path) -> None:
    """A case that no adapter takes fails by name and is never skipped."""
    code, lines = report(tmp_path, GOOD | {"op": "novel"})
    assert code == 1
    assert "no adapter for the operation 'novel'" in lines[2]
    assert lines[-1] == "0 passed, 1 failed"


def test_escaping_errors_are_failures(tmp_path: Path) -> None:
    """An error that is not the kit's own fails its case and not the run."""
    code, lines = report(tmp_path, GOOD | {"input": {}}, GOOD)
    assert code == 1
    assert "KeyError escaped" in lines[2]
    assert lines[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id":"x"}',
        json.dumps(GOOD | {"op": 5}),
        json.dumps(GOOD | {"input": []}),
        json.dumps(GOOD | {"input": {"text": {"$repeat": [1, 2]}}}),
        json.dumps(GOOD | {"input": {"text": {"$concat": "ab"}}}),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, line: str) -> None:
    """A line that is no vector is an error with file and line, and fails the run."""
    code, lines = report(tmp_path, GOOD, line)
    assert code == 1
    assert lines[0].startswith("ERROR ")
    assert "vectors.jsonl:2: expected" in lines[0]
    assert lines[-1] == "1 passed, 1 failed"


def test_nothing_to_run_is_a_failure(tmp_path: Path) -> None:
    """No path, no file and no case are each exit code 1."""
    out = io.StringIO()
    assert run([], out) == 1
    assert out.getvalue() == "0 passed, 0 failed\n"
    assert run([tmp_path], out) == 1
    assert run([tmp_path / "missing"], out) == 1
    assert report(tmp_path) == (1, ["0 passed, 0 failed"])


def test_comparison_is_exact() -> None:
    """`true` is not `1`, a member more or less differs, and only messages are free."""
    assert agree({"a": [1, {"message": "x"}]}, {"a": [1, {"message": "y"}]})
    assert agree({"a": 1}, {"a": 1, "message": "y"})
    assert not agree({"a": True}, {"a": 1})
    assert not agree([1], [1, 2])
    assert not agree({}, {"a": None})
    assert not agree("1", 1)


def test_generator_forms_expand() -> None:
    """Forms expand wherever a string may stand; an object with more keys is none."""
    form = {"$concat": ["a", {"$repeat": [{"$concat": ["b", "c"]}, 2]}]}
    assert expand({"x": [form, 1], "y": {"$repeat": 1, "z": 2}}) == {"x": ["abcbc", 1], "y": {"$repeat": 1, "z": 2}}


def test_parse_feeds_text_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that parses differently as text and as bytes agrees with no expectation."""
    read = ethogram.parse_event

    def read_text_alone(source: bytes | str) -> ethogram.Event:
        return read(b"" if source[:1] == b" " else source)

    monkeypatch.setattr(ethogram, "parse_event", read_text_alone)
    verdict = ADAPTERS["parse"]({"raw": ' {"v":1,"type":"x","runId":"r","seq":1,"ts":"t","payload":1}'})
    assert verdict["bytes"] == {"accept": False}
    assert not agree({"accept": False}, verdict)
    monkeypatch.undo()
    assert ADAPTERS["parse"]({"raw": '"\ud800"'}) == {"accept": False}


def test_the_module_runs(tmp_path: Path) -> None:
    """`python -m conformance` ends with the count and passes the exit code on."""
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps(GOOD))
    command = [sys.executable, "-m", "conformance", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1 passed, 0 failed\n")
