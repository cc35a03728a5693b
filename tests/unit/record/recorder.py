"""Runs the recorder as users do, as a process, and holds its events to the protocol."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ethogram import Event, fold_run, parse_event, prove_gapless, validate

TIMEOUT_S = 30.0
RECORD = (sys.executable, "-m", "relay", "record", "--source", "tests")
PYTHON = (sys.executable, "-I", "-S", "-c")


@dataclass(frozen=True)
class Recorded:
    """What came of one recording."""

    exit_code: int
    events: tuple[Event, ...]
    stdout: bytes
    stderr: bytes

    def only(self, event_type: str) -> Event:
        """The one event of a type."""
        (event,) = [event for event in self.events if event.type == event_type]
        return event

    @property
    def types(self) -> list[str]:
        """The events' types, in order."""
        return [event.type for event in self.events]


def events_of(lines: bytes) -> tuple[Event, ...]:
    """Parse JSON Lines, and prove that they are one whole run that validates, folds and is gapless from 1."""
    events = tuple(parse_event(line) for line in lines.splitlines())
    for event in events:
        validate(event.type, event.payload)
        assert event.captured_at is not None
    view = fold_run(events)
    assert view is not None
    assert not view.is_open
    assert prove_gapless(events) == {view.run_id: len(events)}
    return events


def record(path: Path, argv: Sequence[str], *options: str, stdin: int = subprocess.DEVNULL) -> Recorded:
    """Record a command into a file.

    Args:
        path: A folder for the file.
        argv: The command.
        options: More options of `record`.
        stdin: Standard input.
    """
    file = path / "events.jsonl"
    done = subprocess.run(
        [*RECORD, *options, "--to-file", str(file), "--", *argv],
        stdin=stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Recorded(done.returncode, events_of(file.read_bytes()), done.stdout, done.stderr)


def record_signalled(path: Path, argv: Sequence[str], number: signal.Signals) -> Recorded:
    """Record a command, and send the recorder a signal once the command has printed a line."""
    file = path / "events.jsonl"
    with subprocess.Popen(
        [*RECORD, "--to-file", str(file), "--", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    return Recorded(process.returncode, events_of(file.read_bytes()), first + out, err)
