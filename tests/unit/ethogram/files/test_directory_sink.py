"""A directory of runs: its layout, its locks, and what it leaves alone."""

import shutil
from pathlib import Path

import pytest

from ethogram import EventDraft, RunClosedError, SequenceError
from ethogram.files import (
    DirectorySink,
    FileDamagedError,
    FileSink,
    Recovery,
    SinkBrokenError,
    SinkClosedError,
    SinkLockedError,
    directory_sink,
    disk,
    name_of_run,
)
from tests.unit.ethogram.files.lines import FINISH, TEXT, clock, event, line, lines


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the runs are; not made yet, nor is the directory above it."""
    return tmp_path / "data" / "runs"


def files_below(root: Path) -> dict[str, bytes]:
    """Every file by its path from the root."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_each_run_has_its_file(root: Path) -> None:
    """The layout is as stated: a directory a run, named for it, with its lines in one file and nothing besides."""
    with DirectorySink(root, clock=clock) as sink:
        for run_id in ("b6", "A/..", "b6"):
            sink.append_draft(run_id, TEXT)
        assert sink.path_of("A/..") == root / "%41%2f.%2e" / "events.jsonl"
    assert files_below(root) == {"b6/events.jsonl": lines("b6", 1, 2), "%41%2f.%2e/events.jsonl": line("A/..", 1)}


def test_a_finish_lets_the_run_go(root: Path) -> None:
    """After `run.finished` the file is free, and still the run takes nothing, here or in another sink."""
    with DirectorySink(root, clock=clock) as sink, DirectorySink(root, clock=clock) as other:
        sink.append_draft("r", TEXT)
        with pytest.raises(SinkLockedError) as caught:
            other.append_draft("r", TEXT)
        assert caught.value.path == sink.path_of("r")
        sink.append_draft("r", FINISH)
        FileSink(sink.path_of("r")).close()
        for one in (sink, other, other):
            with pytest.raises(RunClosedError):
                one.append_draft("r", TEXT)
        FileSink(sink.path_of("r")).close()


def test_processes_share_a_root_by_runs(root: Path) -> None:
    """Two sinks on one root have their own runs, and one takes over what the other released."""
    with DirectorySink(root, clock=clock) as one, DirectorySink(root, clock=clock) as other:
        assert [one.append_draft("a", TEXT).seq, other.append_draft("b", TEXT).seq] == [1, 1]
        with pytest.raises(SinkLockedError):
            other.next_seq("a")
        one.release("a")
        one.release("never opened")
        assert other.append_draft("a", TEXT).seq == 2
        with pytest.raises(SinkLockedError):
            one.append_draft("a", TEXT)
        other.release("a")
        assert one.append_draft("a", TEXT).seq == 3


def test_what_is_refused_leaves_no_file(root: Path) -> None:
    """A gap at a run's beginning, or a question, makes no directory."""
    with DirectorySink(root, clock=clock) as sink:
        with pytest.raises(SequenceError):
            sink.append_event(event("r", 2))
        assert sink.next_seq("r") == 1
        assert sink.events("r") == ()
        assert list(root.iterdir()) == []
        assert sink.append_event(event("r", 1)).seq == 1


def test_recoveries_are_told_by_run(root: Path) -> None:
    """What opening a run did to its torn end is told under the run."""
    for name, content in {
        "cut": line("cut", 1) + b"{",
        "kept": line("kept", 1)[:-1],
        "whole": line("whole", 1),
    }.items():
        (root / name).mkdir(parents=True)
        (root / name / "events.jsonl").write_bytes(content)
    with DirectorySink(root, clock=clock) as sink:
        assert [sink.append_draft(run_id, TEXT).seq for run_id in ("cut", "kept", "whole")] == [2, 2, 2]
        assert sink.recoveries == {
            "cut": Recovery(sink.path_of("cut"), len(line("cut", 1)), 1, kept=False),
            "kept": Recovery(sink.path_of("kept"), 0, len(line("kept", 1)) - 1, kept=True),
        }


@pytest.mark.parametrize("run_id", ["r", "R" * 200])
def test_another_runs_file_is_damage(root: Path, run_id: str) -> None:
    """A file that holds another run than its directory is named for is not written to, a shortened name or not."""
    with DirectorySink(root, clock=clock) as sink:
        sink.append_draft("other", TEXT)
        sink.release("other")
        shutil.copytree(root / "other", root / name_of_run(run_id))
        with pytest.raises(FileDamagedError, match="named for") as caught:
            sink.append_draft(run_id, TEXT)
        assert (caught.value.line, caught.value.byte_offset) == (1, 0)
        assert sink.events("other") == sink.events("other")
    assert (root / name_of_run(run_id) / "events.jsonl").read_bytes() == line("other", 1)


def test_finished_runs_beyond_those_remembered_are_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of finished runs has a bound, and what falls out of it is still closed."""
    monkeypatch.setattr(directory_sink, "_FINISHED_RUNS_MAX", 2)
    with DirectorySink(root, clock=clock, fsync="never") as sink:
        for run_id in "abcd":
            sink.append_draft(run_id, FINISH)
        for run_id in "abcdabcd":
            with pytest.raises(RunClosedError):
                sink.append_draft(run_id, TEXT)
            with pytest.raises(RunClosedError):
                sink.append_event(event(run_id, 2))


def test_a_broken_run_is_opened_anew_by_releasing_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run's failed flush is no other run's; released, it goes on with what is in the file."""

    def failing(_descriptor: int) -> None:
        raise OSError(5, "no")

    with DirectorySink(root, clock=clock) as sink:
        sink.append_draft("r", TEXT)
        sink.append_draft("s", TEXT)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "sync_file", failing)
            with pytest.raises(SinkBrokenError):
                sink.append_draft("r", TEXT)
        with pytest.raises(SinkBrokenError):
            sink.append_draft("r", TEXT)
        assert sink.append_draft("s", TEXT).seq == 2
        sink.release("r")
        assert sink.append_draft("r", TEXT).seq == 3


def test_closing_lets_every_run_go(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs are let go, even where the flush of each fails; afterwards nothing is taken."""

    def failing(_descriptor: int) -> None:
        raise OSError(5, "no")

    sink = DirectorySink(root, clock=clock, fsync="finish")
    for run_id in "abc":
        sink.append_draft(run_id, TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync_file", failing)
        with pytest.raises(SinkBrokenError):
            sink.close()
    sink.close()
    for run_id in "abc":
        FileSink(sink.path_of(run_id)).close()
        with pytest.raises(SinkClosedError):
            sink.append_draft(run_id, TEXT)
    with pytest.raises(SinkClosedError):
        sink.append_event(event("new", 1))
    assert len(sink.events("a")) == 1


def test_a_root_is_made_and_its_names_flushed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every directory that gains a name is flushed: those above the root once, the root at each run's opening."""
    flushed: list[Path] = []
    monkeypatch.setattr(disk, "sync_directory", flushed.append)
    monkeypatch.setattr(directory_sink, "sync_directory", flushed.append)
    with DirectorySink(root, clock=clock) as sink:
        assert flushed == [root.parent.parent, root.parent]
        sink.append_draft("r", TEXT)
        sink.append_draft("r", TEXT)
    assert flushed[2:] == [root, root / "r"]
    with DirectorySink(root, clock=clock, fsync="never") as sink:
        sink.append_draft("r", TEXT)
    assert len(flushed) == 4


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    """Where the root is a file, that is an error of the system, with the path in it."""
    (tmp_path / "runs").write_bytes(b"")
    with pytest.raises(FileExistsError, match="runs"):
        DirectorySink(tmp_path / "runs")
    with pytest.raises(OSError, match="runs"):
        DirectorySink(tmp_path / "runs" / "deeper")


def test_an_empty_file_is_a_run_without_events(root: Path) -> None:
    """A writer killed between making the file and its first line leaves a run that begins at 1."""
    (root / "r").mkdir(parents=True)
    (root / "r" / "events.jsonl").write_bytes(b"")
    with DirectorySink(root, clock=clock) as sink:
        assert sink.events("r") == ()
        assert sink.append_draft("r", EventDraft("x", 1)).seq == 1
        assert sink.recoveries == {}
