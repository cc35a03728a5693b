"""Runs one command: passes on what it prints, keeps the beginning of it, and says truly how it ended."""

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, BinaryIO, Final

from ethogram import RunOutcome
from relay.clock import Clock
from relay.record.capture import PrintedText
from relay.record.interruption import Interruption

EXIT_TIMED_OUT: Final = 124
"""As timeout(1) says it."""
EXIT_SIGNAL_BASE: Final = 128
"""As shells say it: 128 and the signal's number."""

_READ_BYTES: Final = 65_536
_LOOK_S: Final = 0.05
"""How often the process itself is looked at while its streams are silent."""
_GRACE_S: Final = 5.0
"""Between the request to end and the kill, once the time is over."""
_AFTERWARDS_S: Final = 1.0
"""How long a stream is read on that a child of the ended command still holds open."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended.

    Attributes:
        outcome: A member of the protocol's run outcomes.
        reason: Why, for every outcome but `completed`.
        exit_code: What a shell would say of it.
    """

    outcome: RunOutcome
    reason: str | None
    exit_code: int


class RunningCommand:
    """A command that was started.

    Args:
        argv: The program and its arguments.
        tee: Where each of its streams is passed on to, by `1` for standard output and `2` for standard error; a
            stream without an entry is recorded only.
        timeout_s: The longest it may run, None for as long as it likes.
        clock: Measures the time.
        interruption: Told which process a signal is meant for; None where signals are another's business. The command
            then reads nothing from standard input.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        tee: Mapping[int, BinaryIO],
        timeout_s: float | None,
        clock: Clock,
        interruption: Interruption | None,
    ) -> None:
        self.printed = PrintedText()
        self._tee = dict(tee)
        self._timeout_s = timeout_s
        self._clock = clock
        self._interruption = interruption
        # In the terminal's own group a command can read from it, and Ctrl-C reaches it; else a group of its own lets
        # a signal, or the end of its time, reach the children, too.
        self._own_group = interruption is None or not interruption.from_terminal
        self._process = subprocess.Popen(  # noqa: S603 - the command that the user gave, and no shell
            list(argv),
            stdin=subprocess.DEVNULL if interruption is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0 if self._own_group else None,
        )
        self._started_s = clock.monotonic_s()
        self._asked_to_end_s: float | None = None
        if interruption is not None:
            interruption.watch(self.send)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def send(self, number: int) -> None:
        """Send it a signal, and its children where they are in a group of their own."""
        with suppress(ProcessLookupError):
            if self._own_group:
                os.killpg(self._process.pid, number)
            elif self._process.poll() is None:
                self._process.send_signal(number)

    def watch(self) -> Ending:
        """Read what it prints until it has ended.

        Returns:
            How it ended.
        """
        with selectors.DefaultSelector() as streams:
            for number, pipe in ((1, self._process.stdout), (2, self._process.stderr)):
                if pipe is not None:
                    streams.register(pipe, selectors.EVENT_READ, number)
            self._read(streams)
            for key in list(streams.get_map().values()):
                self._end_of(streams, key.fileobj, key.data)
        code = self._process.wait()
        if self._interruption is not None:
            self._interruption.watch(None)
        return self._ending(code)

    def _read(self, streams: selectors.BaseSelector) -> None:
        """Pass on and keep until the process has ended and its streams have, too, or linger too long."""
        ended_s: float | None = None
        while ended_s is None or streams.get_map():
            for key, _mask in streams.select(_LOOK_S):
                content = os.read(key.fd, _READ_BYTES)
                if not content or not self._pass_on(key.data, content):
                    self._end_of(streams, key.fileobj, key.data)
            now_s = self._clock.monotonic_s()
            if ended_s is None and self._process.poll() is not None:
                ended_s = now_s
            if ended_s is None:
                self._mind_the_time(now_s, idle=not streams.get_map())
            elif now_s - ended_s > _AFTERWARDS_S:
                return

    def _pass_on(self, number: int, content: bytes) -> bool:
        """Keep and tee; False where nobody reads on the other side, so that the command learns it as it would alone."""
        self.printed.feed(number, content)
        out = self._tee.get(number)
        if out is None:
            return True
        try:
            out.write(content)
            out.flush()
        except (BrokenPipeError, ValueError):
            return False
        return True

    def _end_of(self, streams: selectors.BaseSelector, pipe: object, number: int) -> None:
        self.printed.feed(number, b"")
        for own in (self._process.stdout, self._process.stderr):
            if own is not None and own is pipe:
                self._close(streams, own)

    @staticmethod
    def _close(streams: selectors.BaseSelector, pipe: IO[bytes]) -> None:
        streams.unregister(pipe)
        pipe.close()

    def _mind_the_time(self, now_s: float, *, idle: bool) -> None:
        """Ask it to end when its time is over, then kill it."""
        if idle:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S)
        if self._timeout_s is None or now_s - self._started_s <= self._timeout_s:
            return
        if self._asked_to_end_s is None:
            self._asked_to_end_s = now_s
            self.send(signal.SIGTERM)
        elif now_s - self._asked_to_end_s > _GRACE_S:
            self.send(signal.SIGKILL)

    def _ending(self, code: int) -> Ending:
        exit_code = code if code >= 0 else EXIT_SIGNAL_BASE - code
        signalled = self._interruption.number if self._interruption is not None else None
        if signalled is not None:
            return Ending("interrupted", f"interrupted by {signal_name(signalled)}", exit_code)
        if self._asked_to_end_s is not None:
            return Ending("timed-out", f"time-out of {self._timeout_s:g} s", EXIT_TIMED_OUT)
        if code < 0:
            return Ending("failed", f"ended by signal {signal_name(-code)}", exit_code)
        if code > 0:
            return Ending("failed", f"exit code {code}", exit_code)
        return Ending("completed", None, exit_code)


def signal_name(number: int) -> str:
    """Name a signal, such as `SIGKILL (9)`."""
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:
        return str(number)
