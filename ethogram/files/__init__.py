"""Sinks on files, and following them: the public list, and no logic.

It is apart from `ethogram` because its locks need a POSIX system; the kit itself is imported anywhere.

Spec: The envelope
"""

from ethogram.files.directory_sink import EVENTS_NAME, DirectorySink
from ethogram.files.disk import Fsync
from ethogram.files.errors import (
    FileDamagedError,
    FileReplacedError,
    SinkBrokenError,
    SinkBusyError,
    SinkClosedError,
    SinkFileError,
    SinkLockedError,
)
from ethogram.files.file_sink import FileSink
from ethogram.files.follow import Follower, follow
from ethogram.files.journal import Recovery
from ethogram.files.naming import name_of_run, run_id_of
from ethogram.files.reader import read_events

__all__ = [
    "EVENTS_NAME",
    "DirectorySink",
    "FileDamagedError",
    "FileReplacedError",
    "FileSink",
    "Follower",
    "Fsync",
    "Recovery",
    "SinkBrokenError",
    "SinkBusyError",
    "SinkClosedError",
    "SinkFileError",
    "SinkLockedError",
    "follow",
    "name_of_run",
    "read_events",
    "run_id_of",
]
