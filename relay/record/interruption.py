"""Signals to the recorder are meant for the command that it records: the first is passed on, the second one kills."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Notes the first signal of SIGINT, SIGTERM and SIGHUP, and passes it on.

    Attributes:
        number: The signal that came first, None while none came.
        from_terminal: Whether the command shares the terminal, whose Ctrl-C then reaches it without our help.

    Args:
        from_terminal: As above.
    """

    def __init__(self, *, from_terminal: bool) -> None:
        self.number: int | None = None
        self.from_terminal = from_terminal
        self._send: Callable[[int], None] | None = None

    def install(self) -> None:
        """Listen to the signals; to be called in the main thread."""
        for number in _SIGNALS:
            signal.signal(number, self._received)

    def watch(self, send: Callable[[int], None] | None) -> None:
        """Say how a signal is passed on to the command, None once it has ended."""
        self._send = send
        if send is not None and self.number is not None:
            send(self.number)  # it came while the command was being started

    def _received(self, number: int, _frame: FrameType | None) -> None:
        again = self.number is not None
        self.number = self.number if again else number
        if self._send is None:
            return
        if again:
            self._send(signal.SIGKILL)
        elif not (self.from_terminal and number == signal.SIGINT):
            self._send(number)
