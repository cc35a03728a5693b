"""Sinks on files whose processes are killed: then it is counted. No broker is needed."""

import errno
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pytest

from ethogram import Event, parse_event, prove_gapless
from ethogram.files import DirectorySink, FileSink
from tests.faults.file_writer import RUN_IDS

ROOT = Path(__file__).parents[2]
KILLS = 14
ACKNOWLEDGED_MAX = 40
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


def kill_after(process: Process, acknowledged: int, delay_s: float) -> list[bytes]:
    """Kill a writer some time after so many acknowledgements; give all whole lines that it told."""
    assert process.stdout is not None
    told = [read_line(process) for _ in range(acknowledged + 1)]
    time.sleep(delay_s)
    process.kill()
    told += process.stdout.readlines()
    process.wait(WAIT_S)
    assert told[0] in {b"# open\n", b""}
    return [line for line in told if line.endswith(b"\n") and not line.startswith(b"#")]


def stored_lines(path: Path) -> list[bytes]:
    """The whole lines below a path, file by file."""
    files = sorted(path.rglob("events.jsonl")) if path.is_dir() else [path] if path.exists() else []
    return [line for file in files for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def events_of(lines: list[bytes]) -> list[Event]:
    """The events of lines."""
    return [parse_event(line.removesuffix(b"\n")) for line in lines]


def by_run(lines: list[bytes]) -> dict[str, list[bytes]]:
    """Lines by run, in their order."""
    runs: dict[str, list[bytes]] = {}
    for line, event in zip(lines, events_of(lines), strict=True):
        runs.setdefault(event.run_id, []).append(line)
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
    with (tmp_path / "followed").open("wb") as followed:
        follower = start(processes, "follow", path, stop_path, output=followed)
        for kill in range(KILLS):
            writer = start(processes, "write", layout, path, f"{rng.random()}", 0)
            before = Counter(stored_lines(path))
            told = kill_after(writer, rng.randrange(ACKNOWLEDGED_MAX), rng.choice((0, rng.random() / 100)))
            acknowledged += told
            after = Counter(stored_lines(path))
            assert before <= after, f"kill {kill}: a line that was there is not"
            assert Counter(acknowledged) <= after, f"kill {kill}: an acknowledged event is not there"
            # One may be unacknowledged, and one that lacked its line feed may have been completed at the opening.
            assert (after - before - Counter(told)).total() <= 2, f"kill {kill}: events that nobody appended"
        last = start(processes, "write", layout, path, f"{rng.random()}", LAST_COUNT)
        told_last, _ = last.communicate(timeout=WAIT_S)
        assert last.returncode == 0
        acknowledged += [line for line in told_last.splitlines(keepends=True) if not line.startswith(b"#")]
        stop_path.touch()
        assert follower.wait(WAIT_S) == 0
    lines = stored_lines(path)
    assert max(Counter(lines).values()) == 1
    assert Counter(acknowledged) <= Counter(lines)
    assert len(lines) - len(acknowledged) <= KILLS
    assert prove_gapless(events_of(lines)).keys() == set(RUN_IDS)
    assert all(events_of(of_run)[-1].type == "run.finished" for of_run in by_run(lines).values())
    assert by_run((tmp_path / "followed").read_bytes().splitlines(keepends=True)) == by_run(lines)
    for run_id in RUN_IDS:
        sink = FileSink(path) if layout == "file" else DirectorySink(path)
        with sink:
            assert list(sink.events(run_id)) == events_of(by_run(lines)[run_id])


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
    acknowledged = [line for line in lines if not line.startswith(b"#")]
    refusals = [re.fullmatch(rb"# errno (\d+), (\d+) bytes\n", line) for line in lines if line.startswith(b"#")]
    assert [int(one[1]) for one in refusals if one] == [errno.EFBIG] * 3
    assert all(one is not None and int(one[2]) <= limit_bytes for one in refusals)
    assert path.read_bytes() == b"".join(acknowledged)
    assert len(acknowledged) > 5
    with FileSink(path) as sink:
        assert sink.recovery is None
        assert sink.next_seq("r") == len(acknowledged) + 1


def test_a_fork_does_not_hold_the_lock(tmp_path: Path, processes: ExitStack) -> None:
    """A forked process can neither append nor keep the file locked once its parent was killed."""
    path = tmp_path / "events.jsonl"
    parent = start(processes, "fork", path)
    assert read_line(parent) == path.read_bytes()
    assert read_line(parent) == b"# refused in the child\n"
    os.kill(parent.pid, 9)
    parent.wait(WAIT_S)
    with FileSink(path) as sink:  # The child still waits on its standard input.
        assert sink.next_seq("r") == 2
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.close()
    assert parent.stdout.read() == b""
