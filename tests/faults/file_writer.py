"""What the fault tests run as processes of their own: writers to kill, and a follower to check.

    python -m tests.faults.file_writer write LAYOUT PATH SEED COUNT PACE
    python -m tests.faults.file_writer interrupt LAYOUT PATH SEED COUNT
    python -m tests.faults.file_writer fill PATH LIMIT_BYTES
    python -m tests.faults.file_writer lock PATH
    python -m tests.faults.file_writer fork PATH
    python -m tests.faults.file_writer follow PATH STOP_PATH

Each event that was appended or followed is told on standard output at once, as the digest of its line: that is the
acknowledgement, too short to fill the pipe and hold the writer up. Other words are lines that begin with `#`.
"""

import hashlib
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

from ethogram import Event, EventDraft, serialise_event
from ethogram.files import DirectorySink, FileSink, SinkClosedError, SinkLockedError, follow

LAYOUTS: dict[str, type[FileSink | DirectorySink]] = {"file": FileSink, "directory": DirectorySink}
RUN_IDS = ("run-a", "Run B/2", "")
PAUSE_S = 0.0003
ALARM_S_MAX = 0.0001
FINISH = EventDraft("run.finished", {"outcome": "completed", "durationMs": 1})


def tell(line: bytes) -> None:
    """Put a line out at once, past every buffer of this process."""
    line += b"\n"
    while line:
        line = line[os.write(1, line) :]


def digest(line: bytes) -> bytes:
    """What stands for a line, its line feed left out, where lines are told."""
    return hashlib.sha256(line).hexdigest().encode()


def acknowledge(event: Event) -> None:
    """Say that an append has returned, or that an event was followed."""
    tell(digest(serialise_event(event)))


def write_by_halves(pause_s: float) -> None:
    """Let every write to a file take half of what it is given, and some time: a kill will find lines half written."""
    plain = os.write

    def write_half(descriptor: int, content: bytes) -> int:
        if descriptor == 1:
            return plain(descriptor, content)
        if pause_s:  # To sleep for no time takes some, too.
            time.sleep(pause_s)
        return plain(descriptor, content[: (len(content) + 1) // 2])

    os.write = write_half  # type: ignore[assignment]  # it takes bytes alone, and is given no other


def write(layout: str, path: Path, seed: str, count: int) -> None:
    """Append events of all sizes to all runs for ever; or, given a count, so many, and then finish every run."""
    rng = random.Random(seed)
    with LAYOUTS[layout](path) as sink:
        tell(b"# open")
        number = 0
        while not count or number < count:
            size = rng.choice((1, 100, 5_000, 200_000))
            text = "x" * rng.randrange(size)
            acknowledge(sink.append_draft(rng.choice(RUN_IDS), EventDraft("x.seen", [number, text])))
            number += 1
        for run_id in RUN_IDS:
            acknowledge(sink.append_draft(run_id, FINISH))


class _AlarmError(Exception):
    """Raised by a signal's handler, wherever the process happens to be."""


class _Alarm:
    """A signal's handler that raises while it is armed; a late signal finds it disarmed."""

    def __init__(self) -> None:
        self.is_armed = False

    def __call__(self, _number: int, _frame: object) -> None:
        if self.is_armed:
            raise _AlarmError


def interrupt(layout: str, path: Path, seed: str, count: int) -> None:
    """Append again and again while an alarm goes off at any moment, and tell how often it did."""
    rng, alarm = random.Random(seed), _Alarm()
    signal.signal(signal.SIGALRM, alarm)
    write_by_halves(0)
    interrupted_count = 0
    with LAYOUTS[layout](path, fsync="never") as sink:
        for number in range(count):
            event = None
            try:
                alarm.is_armed = True
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.random() * ALARM_S_MAX)
                event = sink.append_draft(rng.choice(RUN_IDS), EventDraft("x.seen", number))
                alarm.is_armed = False
            except _AlarmError:
                alarm.is_armed = False
                interrupted_count += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            if event is not None:
                acknowledge(event)
    tell(b"# %d" % interrupted_count)


def append_until_refused(sink: FileSink, payload: str) -> None:
    """Append the same event until the system takes no more, and tell what it says and how long the file then is."""
    try:
        while True:
            acknowledge(sink.append_draft("r", EventDraft("x.seen", payload)))
    except OSError as error:
        tell(b"# errno %d, %d bytes" % (error.errno or 0, sink.path.stat().st_size))


def fill(path: Path, limit_bytes: int) -> None:
    """Append into a limit of the file's size, then what still fits, then beyond it again; then without the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with FileSink(path) as sink:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
        for payload in ("x" * 300, "", "y" * 300):
            append_until_refused(sink, payload)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        acknowledge(sink.append_draft("r", EventDraft("x.seen", "z" * 300)))


def lock(path: Path) -> None:
    """Try to be the one writer once standard input has a line, and stay it until standard input ends."""
    tell(b"# ready")
    sys.stdin.readline()
    try:
        with FileSink(path) as sink:
            acknowledge(sink.append_draft("r", EventDraft("x.seen", 1)))
            tell(b"# won")
            sys.stdin.read()
    except SinkLockedError as error:
        tell(f"# locked {error.path}".encode())


def fork(path: Path) -> None:
    """Open a sink and fork; the child tries to append, and lives on until standard input ends."""
    with FileSink(path) as sink:
        acknowledge(sink.append_draft("r", EventDraft("x.seen", 1)))
        if os.fork():
            os.wait()
            return
        try:
            sink.append_draft("r", EventDraft("x.seen", 2))
        except SinkClosedError:
            tell(b"# refused in the child")
        sys.stdin.read()
        os._exit(0)


def follow_until(path: Path, stop_path: Path) -> None:
    """Follow everything until a file appears, and what is there then."""
    for event in follow(path, poll_interval_s=0.002, stop=stop_path.exists):
        acknowledge(event)


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    match arguments:
        case ["write", layout, path, seed, count, pace]:
            if pace == "slow":
                write_by_halves(PAUSE_S)
            write(layout, Path(path), seed, int(count))
        case ["interrupt", layout, path, seed, count]:
            interrupt(layout, Path(path), seed, int(count))
        case ["fill", path, limit_bytes]:
            fill(Path(path), int(limit_bytes))
        case ["lock", path]:
            lock(Path(path))
        case ["fork", path]:
            fork(Path(path))
        case ["follow", path, stop_path]:
            follow_until(Path(path), Path(stop_path))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
