"""What can go wrong with a sink's file, beyond what every sink refuses.

    EthogramError
    └── SinkFileError          anything below; not a regular file
        ├── SinkLockedError    another sink, here or in another process, is the file's writer
        ├── FileDamagedError   a whole line of it is not the next event of its run; nothing was changed
        ├── FileReplacedError  a follower's file is no longer the one that it has read from
        ├── SinkBrokenError    what the disk holds is in doubt; open the sink anew
        ├── SinkClosedError    the sink was closed, or belongs to the process that this one was forked from
        └── SinkBusyError      an append was made from within an append

A full disk and its like stay `OSError`: the append is undone, and the sink goes on.

Spec: The envelope
"""

from pathlib import Path

from ethogram.errors import EthogramError


class SinkFileError(EthogramError):
    """Something is wrong with a sink's file.

    Attributes:
        path: the file.

    Spec: The envelope
    """

    def __init__(self, path: Path, fault: str, kind: str = "file") -> None:
        """Build the text `path: fault (kind)`."""
        super().__init__(f"{path}: {fault} ({kind})")
        self.path: Path = path


class SinkLockedError(SinkFileError):
    """Another sink is the file's writer, in this process or another.

    Spec: The envelope
    """

    def __init__(self, path: Path) -> None:
        """Build the text from the path."""
        super().__init__(path, "expected to be the one writer, got a file that another sink holds", "locked")


class FileDamagedError(SinkFileError):
    """A whole line is not the next event of its run. The file was left as it is.

    Attributes:
        path: the file.
        line: the 1-based number of the line.
        byte_offset: where the line begins, in bytes from the file's start.
        reason: what is wrong with it; no content.

    Spec: The envelope
    """

    def __init__(self, path: Path, line: int, byte_offset: int, reason: str) -> None:
        """Build the text from the place and the reason."""
        super().__init__(path, f"line {line}, byte {byte_offset}: {reason}", "damaged")
        self.line: int = line
        self.byte_offset: int = byte_offset
        self.reason: str = reason


class FileReplacedError(SinkFileError):
    """The file that is followed is not the one that was read from: removed, replaced, cut short or written over.

    Attributes:
        path: the file.
        byte_offset: up to where it had been read, in bytes.

    Spec: The envelope
    """

    def __init__(self, path: Path, byte_offset: int, found: str) -> None:
        """Build the text from how far it was read and what is there now."""
        fault = f"expected the file that was read up to byte {byte_offset}, got {found}"
        super().__init__(path, fault, "replaced")
        self.byte_offset: int = byte_offset


class SinkBrokenError(SinkFileError):
    """What the disk holds is in doubt: a flush failed, a failed write could not be undone, or another wrote here.

    The event of the append that raised it may or may not be in the file. A sink opened anew reads what is there.

    Spec: The envelope
    """

    def __init__(self, path: Path, reason: str) -> None:
        """Build the text from the reason."""
        super().__init__(path, f"expected a file whose end is known, {reason}; open the sink anew", "broken")


class SinkClosedError(SinkFileError):
    """The sink was closed, or belongs to the process that this one was forked from.

    Spec: The envelope
    """

    def __init__(self, path: Path, found: str) -> None:
        """Build the text from what is found instead of an open sink."""
        super().__init__(path, f"expected an open sink, got {found}", "closed")


class SinkBusyError(SinkFileError):
    """A sink was called from within one of its own calls: by a signal's handler, or by its clock.

    Spec: The envelope
    """

    def __init__(self, path: Path) -> None:
        """Build the text from the path."""
        super().__init__(path, "expected one call at a time in a thread, got one from within another", "busy")
