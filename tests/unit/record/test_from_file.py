"""Stamped events from a file keep their bytes."""

import subprocess
from pathlib import Path

from relay.exit_codes import ExitCode
from relay.record.from_file import read_lines
from tests.unit.record.recorder import RECORD, TIMEOUT_S

UNUSUAL = b'{ "seq" : 1, "v":1,"type":"x.y","runId":"r\\u0031","ts":"t","payload":{"b":1.50,"a":"\\/"} }'
TORN = b'{"v":1,"type":"x.y","runId":"secret'


def test_lines_keep_their_bytes_and_are_keyed_by_their_run(tmp_path: Path) -> None:
    """Nothing is serialised again; the key is the run id that the line means."""
    lines = list(read_lines([UNUSUAL + b"\n", b"\n", UNUSUAL + b"\r\n", UNUSUAL]))
    assert [(line.number, line.key, line.value, line.fault) for line in lines] == [
        (1, b"r1", UNUSUAL, None),
        (3, b"r1", UNUSUAL, None),
        (4, b"r1", UNUSUAL, None),
    ]
    file = tmp_path / "in.jsonl"
    file.write_bytes(UNUSUAL + b"\n")
    done = subprocess.run([*RECORD, "--from-file", str(file)], capture_output=True, timeout=TIMEOUT_S, check=True)
    assert done.stdout == UNUSUAL + b"\n"


def test_an_unreadable_line_is_named_and_ends_the_reading() -> None:
    """The error names the line and never shows it; what stood before it was written."""
    done = subprocess.run(
        [*RECORD, "--from-file", "-"],
        input=UNUSUAL + b"\n" + TORN + b"\n" + UNUSUAL + b"\n",
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == ExitCode.FOUND
    assert done.stderr.startswith(b"record: -:2: ")
    assert b"secret" not in done.stderr
    assert done.stdout == UNUSUAL + b"\n"


def test_raw_sends_unreadable_lines_too() -> None:
    """Whatever a line holds, its bytes go out; without a readable run id, without a key."""
    done = subprocess.run(
        [*RECORD, "--raw", "--from-file", "-"],
        input=TORN + b"\n" + UNUSUAL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    assert done.stdout == TORN + b"\n" + UNUSUAL + b"\n"
    (line,) = read_lines([TORN])
    assert line.key is None
    assert line.fault is not None


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A missing file is a fault of the command line."""
    arguments = [*RECORD, "--from-file", str(tmp_path / "none")]
    done = subprocess.run(arguments, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == ExitCode.USAGE
