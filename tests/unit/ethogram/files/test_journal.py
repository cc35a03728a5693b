"""Appends that fail or are interrupted, with the operating system's answers made up."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ethogram.files import FileSink, Recovery, SinkBrokenError, SinkFileError, disk
from tests.unit.ethogram.files.lines import FINISH, TEXT, clock, line, lines

Write = Callable[[int, bytes], int]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "events.jsonl"


@pytest.fixture
def sink(path: Path) -> Iterator[FileSink]:
    """A sink with one event of the run `r`."""
    with FileSink(path, clock=clock) as opened:
        opened.append_draft("r", TEXT)
        yield opened


def writing(monkeypatch: pytest.MonkeyPatch, *answers: int | BaseException | None) -> None:
    """Let the next writes take so many bytes, or raise, or go as they do; later ones go as they do."""
    plain, left = os.write, list(answers)

    def write(descriptor: int, content: bytes) -> int:
        answer = left.pop(0) if left else None
        if isinstance(answer, BaseException):
            raise answer
        return plain(descriptor, content[:answer])

    monkeypatch.setattr(os, "write", write)


def no_space(*_arguments: object) -> int:
    """What a full disk says."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def failing(*_arguments: object) -> None:
    """What a bad disk says."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_short_write_goes_on(path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system takes a part, the rest follows; the line is whole."""
    writing(monkeypatch, 5, 1)
    assert sink.append_draft("r", TEXT).seq == 2
    assert path.read_bytes() == lines("r", 1, 2)


@pytest.mark.parametrize("taken_bytes", [0, 5, len(line("r", 2)) - 1])
def test_a_failed_write_is_undone(
    path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch, taken_bytes: int
) -> None:
    """A full disk leaves the file as it was and takes no seq; with space again the sink goes on."""
    writing(monkeypatch, taken_bytes, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(OSError, match="No space") as caught:
        sink.append_draft("r", FINISH)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == line("r", 1)
    assert sink.next_seq("r") == 2
    assert sink.append_draft("r", TEXT).seq == 2
    assert path.read_bytes() == lines("r", 1, 2)


def test_what_cannot_be_undone_breaks_the_sink(path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where half a line cannot be taken back every later append says so, until the file is opened anew and mended."""
    with monkeypatch.context() as patch:
        writing(patch, 5, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        patch.setattr(os, "ftruncate", failing)
        with pytest.raises(SinkBrokenError, match="taken back"):
            sink.append_draft("r", TEXT)
    for _again in range(2):
        with pytest.raises(SinkBrokenError, match="open the sink anew"):
            sink.append_draft("r", TEXT)
    with pytest.raises(SinkBrokenError):
        sink.next_seq("r")
    sink.close()
    with FileSink(path, clock=clock) as again:
        assert again.recovery == Recovery(path, len(line("r", 1)), 5, kept=False)
        assert again.append_draft("r", TEXT).seq == 2


def test_a_failed_flush_breaks_the_sink(path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed to be flushed is in doubt: the sink takes nothing more, and one opened anew reads what is there."""
    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync_file", failing)
        with pytest.raises(SinkBrokenError, match="failed flush") as caught:
            sink.append_draft("r", TEXT)
        assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(SinkBrokenError):
        sink.append_draft("other", TEXT)
    sink.close()
    with FileSink(path, clock=clock) as again:
        assert again.next_seq("r") == 3


def test_a_failed_flush_at_close_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing says that a flush failed, and gives the lock up all the same."""
    sink = FileSink(path, clock=clock, fsync="finish")
    sink.append_draft("r", TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync_file", failing)
        with pytest.raises(SinkBrokenError):
            sink.close()
    sink.close()
    FileSink(path).close()


@pytest.mark.parametrize("taken_bytes", [0, 5])
def test_an_interrupted_write_is_undone(
    path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch, taken_bytes: int
) -> None:
    """An exception from outside in the middle of a line takes no seq: the next append makes the file right."""
    writing(monkeypatch, taken_bytes, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        sink.append_draft("r", TEXT)
    assert sink.append_draft("r", TEXT).seq == 2
    assert path.read_bytes() == lines("r", 1, 2)


def test_closing_takes_half_a_line_back(path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the interrupted append is the last, closing leaves a file of whole lines."""
    writing(monkeypatch, 5, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        sink.append_draft("r", TEXT)
    assert len(path.read_bytes()) == len(line("r", 1)) + 5
    sink.close()
    assert path.read_bytes() == line("r", 1)


def test_an_interrupted_flush_leaves_the_event(path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole line that a follower may have read is not taken back: the event has its seq."""

    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sink.append_draft("r", TEXT)
    assert sink.append_draft("r", TEXT).seq == 3
    assert path.read_bytes() == lines("r", 1, 2, 3)


def test_another_writer_is_noticed(path: Path, sink: FileSink) -> None:
    """A writer that asks for no lock is met by an error, not by a line in the middle of its own."""
    with path.open("ab") as other:
        other.write(b"{")
    with pytest.raises(SinkBrokenError, match="bytes where"):
        sink.append_draft("r", TEXT)
    assert path.read_bytes() == line("r", 1) + b"{"


def test_another_writer_is_noticed_after_an_interruption(
    path: Path, sink: FileSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another wrote is not taken for the rest of an interrupted line, and is not cut off."""
    with monkeypatch.context() as patch:
        writing(patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            sink.append_draft("r", TEXT)
    with path.open("ab") as other:
        other.write(lines("s", 1, 2, 3))
    with pytest.raises(SinkBrokenError, match="bytes where"):
        sink.append_draft("r", TEXT)
    assert path.read_bytes() == line("r", 1) + lines("s", 1, 2, 3)


def test_a_removed_file_is_noticed(path: Path, sink: FileSink) -> None:
    """Nothing is written where nobody will find it."""
    path.unlink()
    with pytest.raises(SinkBrokenError, match="removed"):
        sink.append_draft("r", TEXT)


def test_the_file_that_is_locked_is_the_one_at_the_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file replaced or removed between opening and locking is let go, and the one in its place is opened."""
    plain, steps = fcntl.flock, ["replace", "remove"]
    path.write_bytes(lines("old", 1))

    def flock(descriptor: int, how: int) -> None:
        step = steps.pop(0) if steps else ""
        if step == "replace":
            new = path.with_name("new")
            new.write_bytes(lines("new", 1))
            new.replace(path)
        elif step == "remove":
            path.unlink()
        plain(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with FileSink(path, clock=clock) as sink:
        assert not steps
        assert sink.next_seq("new") == 1
        sink.append_draft("r", TEXT)
    assert path.read_bytes() == line("r", 1)


def test_a_file_that_never_stays_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts to lock have a bound."""
    monkeypatch.setattr(fcntl, "flock", lambda _descriptor, _how: path.unlink())
    with pytest.raises(SinkFileError, match="replaced 16 times"):
        FileSink(path)


def test_a_failed_opening_gives_the_lock_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the end cannot be mended for want of space, the file stays as it is and may be opened later."""
    path.write_bytes(line("r", 1)[:-1])
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", no_space)
        with pytest.raises(OSError, match="No space"):
            FileSink(path)
    assert path.read_bytes() == line("r", 1)[:-1]
    with FileSink(path) as sink:
        assert sink.next_seq("r") == 2
