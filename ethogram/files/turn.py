"""One call at a time: threads wait for each other, and a call from within a call is refused.

It must never hold anything but the turn.

Spec: The envelope
"""

import os
import threading
from pathlib import Path
from types import TracebackType

from ethogram.files.errors import SinkBusyError, SinkClosedError


class Turn:
    """The turn of one sink, for use in a `with` statement.

    A signal's handler may call a sink while the same thread is inside it. To wait would be for ever, to go on would
    number two events alike; so the inner call is refused. The lock is reentrant in order that it can be.
    """

    def __init__(self, path: Path) -> None:
        """Make the turn of a sink at a path; it belongs to the process that makes it."""
        self._path = path
        self._lock = threading.RLock()
        self._is_taken = False
        self._process_id = os.getpid()

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked from the one that made the turn."""
        return os.getpid() != self._process_id

    def __enter__(self) -> None:
        """Wait for the turn.

        Raises:
            SinkClosedError: this process was forked from the sink's.
            SinkBusyError: this thread has the turn.
        """
        # Asked before the lock, which a thread that the fork left behind may hold for ever.
        if self.is_inherited:
            raise SinkClosedError(self._path, "one of the process that this one was forked from")
        self._lock.acquire()
        if self._is_taken:
            self._lock.release()
            raise SinkBusyError(self._path)
        self._is_taken = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Pass the turn on."""
        self._is_taken = False
        self._lock.release()
