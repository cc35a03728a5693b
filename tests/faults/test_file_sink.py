"""Sinks on files whose processes are killed: then it is counted. No broker is needed."""

import errno
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pytest

from ethogram import Event, parse_event, prove_gapless
from ethogram.files import DirectorySink, FileSink
from tests.faults.file_writer import RUN_IDS, digest

ROOT = Path(__file__).parents[2]
KILLS = 14
ALARMS = 4_000
ACKNOWLEDGED_MAX = 25
LAST_COUNT = 25
WAIT_S = 30

Process = subprocess.Popen[bytes]


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """Whatever was started is ended with the test."""
    with ExitStack() as stack:
        yield stack


def start(processes: ExitStack, *arguments: object, output: BinaryIO | int = subprocess.PIPE) -> Process:
    """Start a process of `file_writer`, with a pipe to its standard input and one, or a file, for what it tells."""
    command = [sys.executable, "-m", "tests.faults.file_writer", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=output)

    def end() -> None:
        process.kill()
        process.wait(WAIT_S)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    processes.callback(end)
    return process


def read_line(process: Process) -> bytes:
    """The next line that a process tells, or nothing at its end."""
    assert process.stdout is not None
    return process.stdout.readline()


def digests(told: Iterable[bytes]) -> list[bytes]:
    """The acknowledgements among the whole lines that a process told; a killed one may leave half a line."""
    return [line.removesuffix(b"\n") for line in told if line.endswith(b"\n") and not line.startswith(b"#")]


def kill_after(process: Process, acknowledged: int, delay_s: float) -> list[bytes]:
    """Kill a writer some time after so many acknowledgements, below 0 before it has opened; give all that it told."""
    assert process.stdout is not None
    told = [read_line(process) for _ in range(acknowledged + 1)]
    assert told[:1] in ([], [b"# open\n"])
    time.sleep(delay_s)
    process.kill()
    told += process.stdout.readlines()
    process.wait(WAIT_S)
    return digests(told)


def files_of(path: Path) -> list[Path]:
    """The files of either layout, as far as there are any."""
    return sorted(path.rglob("events.jsonl")) if path.is_dir() else [path] if path.exists() else []


def is_torn(path: Path) -> bool:
    """Whether a file ends in the middle of a line."""
    return any(not (file.read_bytes() or b"\n").endswith(b"\n") for file in files_of(path))


def stored(path: Path) -> dict[bytes, Event]:
    """The events of all whole lines below a path by their digests, file by file; no line is there twice."""
    events: dict[bytes, Event] = {}
    for file in files_of(path):
        for line in file.read_bytes().split(b"\n")[:-1]:
            assert digest(line) not in events
            events[digest(line)] = parse_event(line)
    return events


def by_run(events: Iterable[Event]) -> dict[str, list[Event]]:
    """Events by run, in their order."""
    runs: dict[str, list[Event]] = {}
    for event in events:
        runs.setdefault(event.run_id, []).append(event)
    return runs


@pytest.mark.parametrize("layout", ["file", "directory"])
def test_no_kill_loses_or_doubles_an_event(
    layout: str, tmp_path: Path, rng: random.Random, processes: ExitStack
) -> None:
    """Writers are killed at random moments, and a follower in a process of its own looks on.

    Every acknowledged event is there once, byte for byte; every run is gapless and ends with its finish; of each killed
    writer there is at most one event that it had no time to acknowledge; the follower saw what is there.
    """
    path, stop_path = tmp_path / ("events.jsonl" if layout == "file" else "runs"), tmp_path / "stop"
    acknowledged: list[bytes] = []
    torn_count = 0
    with (tmp_path / "followed").open("wb") as followed:
        follower = start(processes, "follow", path, stop_path, output=followed)
        for kill in range(KILLS):
            writer = start(processes, "write", layout, path, rng.random(), 0, rng.choice(("slow", "plain")))
            before = stored(path).keys()
            told = kill_after(writer, rng.randrange(-3, ACKNOWLEDGED_MAX), rng.choice((0, rng.random() / 20)))
            acknowledged += told
            torn_count += is_torn(path)
            after = stored(path).keys()
            assert before <= after, f"kill {kill}: a line that was there is not"
            assert after >= set(acknowledged), f"kill {kill}: an acknowledged event is not there"
            # One may be unacknowledged, and one that lacked its line feed may have been completed at the opening.
            assert len(after - before - set(told)) <= 2, f"kill {kill}: events that nobody appended"
        last = start(processes, "write", layout, path, rng.random(), LAST_COUNT, "plain")
        told_last, _ = last.communicate(timeout=WAIT_S)
        assert last.returncode == 0
        acknowledged += digests(told_last.splitlines(keepends=True))
        stop_path.touch()
        assert follower.wait(WAIT_S) == 0
    print(f"{torn_count} of {KILLS} kills left a torn line")  # noqa: T201 - pytest shows it with a failure
    events = stored(path)
    assert len(set(acknowledged)) == len(acknowledged)
    assert events.keys() >= set(acknowledged)
    assert len(events) - len(acknowledged) <= KILLS
    runs = by_run(events.values())
    assert prove_gapless(events.values()).keys() == set(RUN_IDS)
    assert all(run[-1].type == "run.finished" for run in runs.values())
    seen = digests((tmp_path / "followed").read_bytes().splitlines(keepends=True))
    assert by_run(events[one] for one in seen) == runs
    with FileSink(path) if layout == "file" else DirectorySink(path) as sink:
        assert {run_id: list(sink.events(run_id)) for run_id in RUN_IDS} == runs


@pytest.mark.parametrize("layout", ["file", "directory"])
def test_exceptions_out_of_nowhere_leave_a_sink_in_order(
    layout: str, tmp_path: Path, rng: random.Random, processes: ExitStack
) -> None:
    """Alarms that raise in the middle of appends, thousands of them: the sink goes on, and its file is right.

    Each append that returned is there once. One that was interrupted is there or not, and its seq is used or not.
    """
    path = tmp_path / ("events.jsonl" if layout == "file" else "runs")
    process = start(processes, "interrupt", layout, path, rng.random(), ALARMS)
    told, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    *acknowledged, word = told.splitlines(keepends=True)
    interrupted_count = int(word.removeprefix(b"# "))
    print(f"{interrupted_count} of {ALARMS} appends were interrupted")  # noqa: T201 - pytest shows it with a failure
    events = stored(path)
    assert not is_torn(path)
    assert prove_gapless(events.values()).keys() == set(RUN_IDS)
    assert events.keys() >= set(digests(acknowledged))
    assert len(events) - len(acknowledged) <= interrupted_count
    assert ALARMS // 20 < interrupted_count < ALARMS


def test_of_two_processes_one_is_the_writer(tmp_path: Path, processes: ExitStack) -> None:
    """Processes that open a file at the same moment: one wins, the others learn it; killed, it leaves no lock."""
    path = tmp_path / "events.jsonl"
    for round_number in range(1, 4):
        racers = [start(processes, "lock", path) for _ in range(3)]
        assert [read_line(racer) for racer in racers] == [b"# ready\n"] * 3
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(b"go\n")
            racer.stdin.flush()
        words = [read_line(racer) for racer in racers]
        won = [racer for racer, word in zip(racers, words, strict=True) if not word.startswith(b"#")]
        assert len(won) == 1
        assert read_line(won[0]) == b"# won\n"
        assert words.count(f"# locked {path}\n".encode()) == 2
        won[0].kill()
        won[0].wait(WAIT_S)
        with FileSink(path) as sink:
            assert sink.next_seq("r") == round_number + 1


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, processes: ExitStack) -> None:
    """With a limit on the size of files, appends beyond it fail and are undone; what fits, and later appends, go on."""
    path = tmp_path / "events.jsonl"
    limit_bytes = 2_000
    told, _ = start(processes, "fill", path, limit_bytes).communicate(timeout=WAIT_S)
    lines = told.splitlines(keepends=True)
    acknowledged = digests(lines)
    refusals = [re.fullmatch(rb"# errno (\d+), (\d+) bytes\n", line) for line in lines if line.startswith(b"#")]
    assert [int(one[1]) for one in refusals if one] == [errno.EFBIG] * 3
    assert all(one is not None and int(one[2]) <= limit_bytes for one in refusals)
    assert path.read_bytes().endswith(b"\n")
    assert list(stored(path)) == acknowledged
    assert len(acknowledged) > 5
    with FileSink(path) as sink:
        assert sink.recovery is None
        assert sink.next_seq("r") == len(acknowledged) + 1


def test_a_fork_does_not_hold_the_lock(tmp_path: Path, processes: ExitStack) -> None:
    """A forked process can neither append nor keep the file locked once its parent was killed."""
    path = tmp_path / "events.jsonl"
    parent = start(processes, "fork", path)
    assert digests([read_line(parent)]) == list(stored(path))
    assert read_line(parent) == b"# refused in the child\n"
    os.kill(parent.pid, 9)
    parent.wait(WAIT_S)
    with FileSink(path) as sink:  # The child still waits on its standard input.
        assert sink.next_seq("r") == 2
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.close()
    assert parent.stdout.read() == b""
