"""One call at a time: threads wait for each other, and a call from within a call is refused.

It must never hold anything but the turn.

Spec: The envelope
"""

import os
import threading
from contextlib import AbstractContextManager
from pathlib import Path

from ethogram.files.errors import SinkBusyError, SinkClosedError


class Turn:
    """The turn of one sink: `with turn.take():`.

    A signal's handler may call a sink while the same thread is inside it. To wait would be for ever, to go on would
    number two events alike; so the inner call is refused. Whether the thread is inside is asked of the lock itself: a
    flag beside it could be left standing by an exception that a handler raises.
    """

    def __init__(self, path: Path) -> None:
        """Make the turn of a sink at a path; it belongs to the process that makes it."""
        self._path = path
        self._lock = threading.RLock()
        self._process_id = os.getpid()

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked from the one that made the turn."""
        return os.getpid() != self._process_id

    def take(self) -> AbstractContextManager[bool]:
        """Give the lock to wait for in a `with` statement.

        Raises:
            SinkClosedError: this process was forked from the sink's.
            SinkBusyError: this thread has the turn.

        Spec: The envelope
        """
        # Asked before the lock, which a thread that the fork left behind may hold for ever.
        if self.is_inherited:
            raise SinkClosedError(self._path, "one of the process that this one was forked from")
        if self._lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001 - no public way; `Condition` asks so, too
            raise SinkBusyError(self._path)
        return self._lock
