"""What the journal asks of the operating system: a locked file, flushes that reach the disk, directories that last.

It must never read or judge content.

Spec: The envelope
"""

import fcntl
import os
import stat
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Final, Literal, get_args

from ethogram.files.errors import SinkFileError, SinkLockedError

Fsync = Literal["append", "finish", "never"]
"""When a sink flushes to the disk: at every append; when a run finishes and at close; never."""

_LOCK_ATTEMPTS_MAX: Final = 16
"""How often a file may be replaced while it is being locked, before that is an error."""

sync_file: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)
"""Flush a file's bytes and its size. Other times of it, which `fsync` would flush, too, nobody needs."""


def check_fsync(fsync: str) -> None:
    """Refuse a policy that there is not.

    Raises:
        ValueError: it is none of `append`, `finish`, `never`.

    Spec: The envelope
    """
    if fsync not in get_args(Fsync):
        raise ValueError(f"fsync: expected one of {', '.join(get_args(Fsync))}, got another (policy)")


def sync_directory(path: Path) -> None:
    """Flush a directory, so that the names in it outlast a loss of power.

    Raises:
        OSError: it cannot be opened or flushed.

    Spec: The envelope
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directories(path: Path, *, syncing: bool) -> None:
    """Make a directory and those above it that are missing.

    Args:
        path: the directory; one that is there is left as it is.
        syncing: whether to flush each directory that gained a name.

    Raises:
        OSError: it cannot be made; `FileExistsError` where something else has the name.

    Spec: The envelope
    """
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        if syncing:
            sync_directory(directory.parent)


def open_locked(path: Path) -> FileIO:
    """Open a file for appending, make it where there is none, and become its one writer.

    The lock is on the file itself and goes with the process, however it ends; there is no lock file to be left behind.

    Args:
        path: the file; its directory is there.

    Returns:
        The file, unbuffered, open for reading and appending. Closing it, or losing it, gives the lock up.

    Raises:
        SinkLockedError: another has the lock, in this process or another.
        SinkFileError: there is something else than a regular file, or a file that is replaced over and over.
        OSError: it cannot be opened or locked.

    Spec: The envelope
    """
    for _attempt in range(_LOCK_ATTEMPTS_MAX):
        file = FileIO(path, "a+")
        is_ours = False
        try:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SinkFileError(path, "expected a regular file, got another kind")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Between the opening and the lock another may have put a new file in this one's place.
            is_ours = _is_at(path, status)
        except BlockingIOError:
            raise SinkLockedError(path) from None
        finally:
            if not is_ours:
                file.close()
        if is_ours:
            return file
    raise SinkFileError(path, f"expected a file that stays, got it replaced {_LOCK_ATTEMPTS_MAX} times")


def _is_at(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except FileNotFoundError:
        return False
