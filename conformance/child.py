"""A command whose standard input and output carry lines; every wait has its limit, and its end is certain.

It knows nothing of cases. Both pipes are watched at once, so that neither side can wait for the other for ever.

Spec: The founding decision: two implementations, one corpus
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

_CHUNK_BYTES: Final = 65_536
_GRACE_S: Final = 2.0
"""Seconds a command has to end by itself once its input is closed."""


class ChildFault(Exception):
    """The command did not answer as it should; the text says how, on one line."""


class Child:
    """One life of a command, in a process group of its own; its standard error passes through."""

    def __init__(self, argv: Sequence[str], line_bytes_max: int) -> None:
        """Start it.

        Args:
            argv: program and arguments.
            line_bytes_max: bytes of the longest line that is taken from it.

        Raises:
            ChildFault: it cannot be started.
        """
        self._line_bytes_max = line_bytes_max
        self._read = bytearray()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is the user's own
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else "an argument holds a NUL"
            raise ChildFault(f"cannot be started: {said}") from None
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("expected two pipes, got fewer")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        for pipe in (self._stdin, self._stdout):
            os.set_blocking(pipe.fileno(), False)

    def exchange(self, line: bytes, timeout_s: float) -> bytes:
        """Write a line and read one.

        Args:
            line: what to write, with its line feed.
            timeout_s: seconds for both.

        Returns:
            What was read, without its line feed.

        Raises:
            ChildFault: the command ended, was silent for too long, wrote without being asked, or too much.
        """
        if self._read:
            raise ChildFault("wrote more than one line to its standard output for one that it read")
        deadline_s = time.monotonic() + timeout_s
        unwritten = memoryview(line)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stdin, selectors.EVENT_WRITE)
            while b"\n" not in self._read:
                ready = selector.select(max(0.0, deadline_s - time.monotonic()))
                if not ready:
                    raise ChildFault(f"did not answer within {timeout_s:g} s")
                pipes = {key.fileobj for key, _mask in ready}
                if self._stdout in pipes:
                    self._take()
                unwritten = self._give(unwritten) if self._stdin in pipes else unwritten
                if self._stdin in pipes and not unwritten:
                    selector.unregister(self._stdin)
        if unwritten:
            raise ChildFault("wrote to its standard output before it had read the whole line")
        answer, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        return answer

    def close(self) -> None:
        """End its input, wait a little, and kill what is left of its process group."""
        self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Kill its process group at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _give(self, unwritten: memoryview) -> memoryview:
        try:
            written_bytes = os.write(self._stdin.fileno(), unwritten)
        except BrokenPipeError:  # It ended, or closed its input: reading says which.
            return memoryview(b"")
        return unwritten[written_bytes:]

    def _take(self) -> None:
        chunk = os.read(self._stdout.fileno(), _CHUNK_BYTES)
        if not chunk:
            raise ChildFault(f"ended before it answered ({self._ending()})")
        self._read += chunk
        if len(self._read) > self._line_bytes_max:
            raise ChildFault(f"wrote a line of more than {self._line_bytes_max} bytes")

    def _ending(self) -> str:
        try:
            code = self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            return "its standard output is closed, it still runs"
        return f"signal {-code}" if code < 0 else f"exit code {code}"
