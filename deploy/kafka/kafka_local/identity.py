"""Which process a process id means: the id together with its start, so that a reused id is never taken for ours.

Serves status and stop, which must not signal a stranger that inherited the number.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

KILL_TIMEOUT_S = 10.0
POLL_INTERVAL_S = 0.02
# Field 22 of /proc/PID/stat is the start time; counting begins at the state, field 3, behind the name in brackets.
STAT_START_INDEX = 22 - 3


@dataclass(frozen=True)
class ProcessIdentity:
    """A process id and a token of when that process started; equal only for the very same process."""

    pid: int
    started: str


def parse_stat(text: str) -> str | None:
    """Read the start time out of a Linux `/proc/PID/stat` line.

    Args:
        text: The line; the command name in brackets may itself hold spaces and brackets.

    Returns:
        The start time in clock ticks since boot as text, or None for a zombie, which is gone but for its exit code.
    """
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[STAT_START_INDEX]


def identity_of(pid: int) -> ProcessIdentity | None:
    """Name the process that has this id now.

    Args:
        pid: The process id.

    Returns:
        Its identity, or None if no live process has the id.
    """
    if Path("/proc/self/stat").exists():
        try:
            started = parse_stat(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace"))
        except (FileNotFoundError, ProcessLookupError):
            return None
    else:
        answer = subprocess.run(  # noqa: S603 - a fixed program, a number as argument
            ["/bin/ps", "-o", "state=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        started = None if answer.startswith("Z") else answer.partition(" ")[2].strip() or None
    return None if started is None else ProcessIdentity(pid, started)


def is_alive(process: ProcessIdentity) -> bool:
    """Say whether that very process still runs."""
    return identity_of(process.pid) == process


def kill(process: ProcessIdentity) -> None:
    """Kill the process if it is still that one, and wait until it is gone.

    Args:
        process: Whom to kill; a stranger that reused the id is left alone.

    Raises:
        TimeoutError: If it outlives SIGKILL by 10 seconds, as one stuck in the kernel would.
    """
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while is_alive(process):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"process {process.pid}: expected to end within {KILL_TIMEOUT_S} s of SIGKILL, still runs"
            )
        time.sleep(POLL_INTERVAL_S)
