"""One file: what opening restores, mends and refuses to touch."""

import gc
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from ethogram import EventDraft, InMemorySink, RunClosedError
from ethogram.files import (
    FileDamagedError,
    FileSink,
    Fsync,
    Recovery,
    SinkBusyError,
    SinkClosedError,
    SinkFileError,
    SinkLockedError,
    disk,
)
from tests.unit.ethogram.files.lines import FINISH, TEXT, clock, line, lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "events.jsonl"


def test_the_file_is_canonical_lines(path: Path) -> None:
    """Each event is its canonical bytes and a line feed, in the order of the appends."""
    with FileSink(path, clock=clock) as sink:
        for run_id in ("a", "b", "a"):
            sink.append_draft(run_id, TEXT)
    assert path.read_bytes() == line("a", 1) + line("b", 1) + line("a", 2)


def test_opening_restores_every_run(path: Path) -> None:
    """Each run goes on where it was, and a finished one stays so; what was written is not written again."""
    before = lines("a", 1, 2) + line("b", 1) + line("c", 1, FINISH)
    path.write_bytes(before)
    with FileSink(path, clock=clock) as sink:
        assert sink.recovery is None
        assert [sink.next_seq(run_id) for run_id in ("a", "b", "new")] == [3, 2, 1]
        with pytest.raises(RunClosedError):
            sink.append_draft("c", TEXT)
        sink.append_draft("a", TEXT)
    assert path.read_bytes() == before + line("a", 3)


def test_lines_that_are_not_canonical_are_kept(path: Path) -> None:
    """Any line that parses is an event: spaces and a carriage return do no harm."""
    other = line("a", 1).replace(b'"v":1', b' "v" : 1 ').replace(b"\n", b"\r\n")
    path.write_bytes(other)
    with FileSink(path, clock=clock) as sink:
        assert sink.append_draft("a", TEXT).seq == 2
        assert [event.seq for event in sink.events("a")] == [1, 2]
    assert path.read_bytes() == other + line("a", 2)


@pytest.mark.parametrize("tail", [line("a", 3)[:-2], b"{", b"\0" * 9, b'{"v":1}', b" ", b'{"a":1}' * 99_999])
def test_a_torn_last_line_is_cut(path: Path, tail: bytes) -> None:
    """Bytes behind the last line feed that are no event are cut off, exactly these, and told."""
    before = lines("a", 1, 2)
    path.write_bytes(before + tail)
    with FileSink(path, clock=clock) as sink:
        assert path.read_bytes() == before
        assert sink.recovery == Recovery(path, len(before), len(tail), kept=False)
        assert sink.append_draft("a", TEXT).seq == 3
    assert path.read_bytes() == before + line("a", 3)


@pytest.mark.parametrize("run_id", ["a", "another"])
def test_a_whole_last_event_is_kept(path: Path, run_id: str) -> None:
    """An event of which only the line feed is missing is completed: nothing whole is lost."""
    before, tail = lines("a", 1, 2), line(run_id, 3 if run_id == "a" else 1, FINISH)[:-1]
    path.write_bytes(before + tail)
    with FileSink(path, clock=clock) as sink:
        assert path.read_bytes() == before + tail + b"\n"
        assert sink.recovery == Recovery(path, len(before), len(tail), kept=True)
        with pytest.raises(RunClosedError):
            sink.append_draft(run_id, TEXT)


DAMAGES = {
    "no JSON": (b"garbage\n", "event: "),
    "an empty line": (b"\n", "event: "),
    "zeros": (b"\0\0\0\n", "event: "),
    "half an event": (line("a", 3)[:40] + b"\n", "event: "),
    "a gap": (line("a", 4), "seq: expected 3, got 4 (gap)"),
    "a repetition": (line("a", 2), "seq: expected 3, got 2 (duplicate)"),
    "after the finish": (line("z", 2), "runId: "),
    "a whole last event that is not next": (line("a", 5)[:-1], "seq: expected 3, got 5 (gap)"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_other_damage_is_refused_and_not_touched(path: Path, damage: str) -> None:
    """A whole line that is not the next event is named by its place and reason, without content; the file stays."""
    before = line("z", 1, FINISH) + lines("a", 1, 2)
    wrong, reason = DAMAGES[damage]
    after = lines("a", 3) + line("a", 4)[:-9] if wrong.endswith(b"\n") else b""
    path.write_bytes(before + wrong + after)
    with pytest.raises(FileDamagedError) as caught:
        FileSink(path, clock=clock)
    error = caught.value
    assert (error.path, error.line, error.byte_offset) == (path, 4, len(before))
    assert error.reason.startswith(reason)
    assert str(error).startswith(f"{path}: line 4, byte {len(before)}: {error.reason}")
    assert "confidence" not in str(error)
    assert path.read_bytes() == before + wrong + after
    with pytest.raises(FileDamagedError):  # And its lock was given back.
        FileSink(path, clock=clock)


def test_one_writer(path: Path) -> None:
    """A second sink learns at once that there is a first, which of them it is, and may have the file afterwards."""
    with FileSink(path, clock=clock) as first:
        with pytest.raises(SinkLockedError, match="locked") as caught:
            FileSink(path, clock=clock)
        assert caught.value.path == path
        assert first.append_draft("r", TEXT).seq == 1
    with FileSink(path, clock=clock) as second:
        assert second.append_draft("r", TEXT).seq == 2


def test_a_closed_sink_takes_nothing(path: Path) -> None:
    """Closing twice is closing once; appends are refused from then on, and events can still be read."""
    sink = FileSink(path, clock=clock)
    sink.append_draft("r", TEXT)
    sink.close()
    sink.close()
    for _again in range(2):
        with pytest.raises(SinkClosedError):
            sink.append_draft("r", TEXT)
    assert len(sink.events("r")) == 1


def test_a_forgotten_sink_is_told_and_lets_go(path: Path) -> None:
    """A sink that nobody closed warns as files do, and does not hold the lock for ever."""
    sink = FileSink(path, clock=clock)
    forgotten = [sink]
    del sink
    with pytest.warns(ResourceWarning, match="unclosed file"):
        forgotten.clear()
    FileSink(path).close()


def test_only_regular_files(path: Path) -> None:
    """What is no regular file is refused in words, and a policy that there is not, too."""
    os.mkfifo(path)
    with pytest.raises(SinkFileError, match="regular"):
        FileSink(path)
    with pytest.raises(IsADirectoryError):
        FileSink(path.parent)
    with pytest.raises(FileNotFoundError):
        FileSink(path.parent / "deeper" / "events.jsonl")
    wrong: Any = "sometimes"
    with pytest.raises(ValueError, match="fsync: expected one of append, finish, never"):
        FileSink(path, fsync=wrong)


@pytest.mark.parametrize("fsync", get_args(Fsync))
def test_flushes_are_as_the_policy_says(path: Path, fsync: Fsync, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every append; at a finish and at close; never. What is flushed is the file as it then is."""
    flushed: list[int] = []
    monkeypatch.setattr(disk, "sync_file", lambda descriptor: flushed.append(os.fstat(descriptor).st_size))
    sizes = []
    with FileSink(path, clock=clock, fsync=fsync) as sink:
        for draft in (TEXT, TEXT, FINISH):
            sink.append_draft("r", draft)
            sizes.append(path.stat().st_size)
        sink.append_draft("s", TEXT)
        sizes.append(path.stat().st_size)
    expected = {"append": [0, *sizes], "finish": [0, *sizes[2:]], "never": []}
    assert flushed == expected[fsync]


def test_names_are_flushed_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory is flushed at every opening, for an earlier writer may have been killed before it did."""
    flushed: list[Path] = []
    monkeypatch.setattr(disk, "sync_directory", flushed.append)
    for fsync in get_args(Fsync):
        FileSink(path, fsync=fsync).close()
    assert flushed == [path.parent] * 2


def test_a_sink_is_not_called_from_within(path: Path) -> None:
    """A clock, as a signal's handler, that appends to the sink it is called from is refused; the sink goes on."""
    inner: list[FileSink] = []

    def calling_clock() -> str:
        if inner:
            inner.pop().append_draft("r", TEXT)
        return clock()

    with FileSink(path, clock=calling_clock) as sink:
        inner.append(sink)
        with pytest.raises(SinkBusyError):
            sink.append_draft("r", TEXT)
        assert sink.append_draft("r", TEXT).seq == 1
    assert path.read_bytes() == line("r", 1)


def test_no_event_is_kept_in_memory(path: Path) -> None:
    """A sink holds an integer a run: its file can be larger than what it takes."""

    def kept_by(sink: InMemorySink | FileSink) -> int:
        for _ in range(50):
            sink.append_draft("r", EventDraft("x.seen", {"kept in memory": [str(path)]}))
        gc.collect()
        return sum(1 for one in gc.get_objects() if type(one) is dict and "kept in memory" in one)

    with FileSink(path, clock=clock, fsync="never") as sink:
        assert kept_by(sink) == 0
    assert kept_by(InMemorySink()) == 50
