"""Following, with a writer that does as it is told and a sleep that takes no time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ethogram import Event, EventDraft, ParseError, serialise_event
from ethogram.files import (
    DirectorySink,
    FileDamagedError,
    FileReplacedError,
    FileSink,
    Follower,
    SinkFileError,
    follow,
    followed,
    name_of_run,
    read_events,
)
from tests.unit.ethogram.files.lines import FINISH, TEXT, clock, line, lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "events.jsonl"


def places(events: list[Event] | Iterator[Event]) -> list[tuple[str, int]]:
    """Run and seq of each event."""
    return [(event.run_id, event.seq) for event in events]


def add(path: Path, content: bytes) -> None:
    """Append bytes as a writer does."""
    with path.open("ab") as file:
        file.write(content)


def test_replay_then_growth(path: Path) -> None:
    """A follower gives what is there, then nothing, then what is new, each once."""
    path.write_bytes(lines("a", 1, 2) + line("b", 1))
    follower = Follower(path)
    assert places(follower.poll()) == [("a", 1), ("a", 2), ("b", 1)]
    assert follower.poll() == []
    add(path, line("b", 2))
    assert places(follower.poll()) == [("b", 2)]
    assert follower.poll() == []
    assert not follower.is_finished


def test_no_partial_line_is_given(path: Path) -> None:
    """Byte by byte, an event is given when its line feed is there and not before."""
    follower = Follower(path)
    for byte in line("a", 1):
        assert follower.poll() == []
        add(path, bytes([byte]))
    assert places(follower.poll()) == [("a", 1)]


def test_a_torn_line_may_be_cut_and_written_anew(path: Path) -> None:
    """A follower that saw a torn line sees its file mended by the next writer, and goes on."""
    path.write_bytes(line("a", 1) + line("a", 2, FINISH)[:30])
    follower = Follower(path)
    assert places(follower.poll()) == [("a", 1)]
    with FileSink(path, clock=clock) as sink:
        assert follower.poll() == []
        sink.append_draft("a", EventDraft("x.seen", "other"))
    (event,) = follower.poll()
    assert (event.seq, event.payload) == (2, "other")


@pytest.mark.parametrize(
    ("from_seq", "expected"),
    [
        (1, [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3)]),
        (2, [("a", 2), ("b", 2), ("a", 3)]),
        (9, []),
        ({"a": 3}, [("b", 1), ("b", 2), ("a", 3)]),
        ({"a": 4, "b": 2, "c": 1}, [("b", 2)]),
    ],
)
def test_from_any_seq(path: Path, from_seq: int | dict[str, int], expected: list[tuple[str, int]]) -> None:
    """One number holds for every run, a mapping for those it names; the runs stay gapless from there."""
    path.write_bytes(line("a", 1) + line("b", 1) + line("a", 2) + line("b", 2) + line("a", 3))
    assert places(Follower(path, from_seq=from_seq).poll()) == expected


@pytest.mark.parametrize("from_seq", [0, -1, {"a": 0}])
def test_from_no_seq_is_refused(path: Path, from_seq: int | dict[str, int]) -> None:
    """A `seq` begins at 1, and an interval is longer than nothing; both are told before anything is read."""
    with pytest.raises(ValueError, match="from_seq"):
        follow(path, from_seq=from_seq)
    with pytest.raises(ValueError, match="poll_interval_s"):
        follow(path, poll_interval_s=0)
    with pytest.raises(ParseError):
        follow(path, "\ud800")


def test_one_run_ends_with_its_finish(path: Path) -> None:
    """Of many runs in a file one is followed to its finish, and no further; its finish may be skipped over, too."""
    path.write_bytes(line("b", 1) + line("a", 1) + line("b", 2, FINISH) + line("a", 2, FINISH) + line("c", 1))
    assert places(follow(path, "a", sleep=never)) == [("a", 1), ("a", 2)]
    assert places(follow(path, "b", from_seq=2, sleep=never)) == [("b", 2)]
    assert places(follow(path, "b", from_seq=3, sleep=never)) == []
    follower = Follower(path, "a")
    assert places(follower.poll()) == [("a", 1), ("a", 2)]
    assert follower.is_finished
    assert follower.poll() == []


def never(_seconds: float) -> None:
    """A sleep that is not to be."""
    pytest.fail("it waits although all is there")


class Steps:
    """A sleep in which the writer takes its next step."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        """Take the steps."""
        self.left = list(steps)
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        """Take one."""
        self.slept.append(seconds)
        self.left.pop(0)()

    def is_over(self) -> bool:
        """Whether none is left."""
        return not self.left


def test_following_waits_and_goes_on(path: Path) -> None:
    """It waits for the file, for a line, and for the rest of a line; it ends with the run and has slept in between."""
    steps = Steps(
        lambda: path.write_bytes(b""),
        lambda: add(path, line("a", 1)),
        lambda: add(path, line("a", 2)[:7]),
        lambda: add(path, line("a", 2)[7:]),
        lambda: add(path, line("a", 3, FINISH)),
    )
    assert places(follow(path, "a", poll_interval_s=0.5, sleep=steps)) == [("a", 1), ("a", 2), ("a", 3)]
    assert steps.slept == [0.5] * 5


def test_stop_gives_what_is_there_first(path: Path) -> None:
    """What was written before the stop became true is given, even where that was after the last look."""
    steps = Steps(lambda: add(path, line("a", 1)), lambda: add(path, lines("a", 2, 3)))
    assert places(follow(path, stop=steps.is_over, sleep=steps)) == [("a", 1), ("a", 2), ("a", 3)]
    assert places(follow(path, stop=lambda: True, sleep=never)) == [("a", 1), ("a", 2), ("a", 3)]
    assert places(follow(path.with_name("nothing"), stop=lambda: True, sleep=never)) == []


@pytest.mark.parametrize("run_id", [None, "a"])
def test_absence_may_be_an_error(tmp_path: Path, run_id: str | None) -> None:
    """With `must_exist` a path that is not there is told at once, and so is a run below a root."""
    with pytest.raises(FileNotFoundError, match="nothing"):
        next(follow(tmp_path / "nothing", run_id, must_exist=True))
    with pytest.raises(FileNotFoundError):
        next(follow(tmp_path, "a", must_exist=True))


def replace_by_copy(path: Path) -> None:
    """Another file with the same bytes and more."""
    new = path.with_name("new")
    new.write_bytes(path.read_bytes() + line("a", 3))
    new.replace(path)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda path: path.unlink(), "no file"),
        (replace_by_copy, "another file"),
        (lambda path: path.write_bytes(line("a", 1)), "bytes"),
        (lambda path: path.write_bytes(lines("b", 1, 2, 3)), "other bytes"),
    ],
    ids=["removed", "replaced", "cut short", "written over"],
)
def test_a_file_that_is_another_is_told(path: Path, change: Callable[[Path], object], found: str) -> None:
    """Removed, replaced, cut short or written over: the follower says so, each time it is asked."""
    path.write_bytes(lines("a", 1, 2))
    follower = Follower(path)
    follower.poll()
    change(path)
    for _again in range(2):
        with pytest.raises(FileReplacedError, match=found) as caught:
            follower.poll()
        assert (caught.value.path, caught.value.byte_offset) == (path, len(lines("a", 1, 2)))


def test_damage_is_told_after_what_came_before_it(path: Path) -> None:
    """Events before a damaged line are given; then the line is named, each time."""
    path.write_bytes(lines("a", 1, 2) + line("a", 4))
    follower = Follower(path)
    assert places(follower.poll()) == [("a", 1), ("a", 2)]
    for _again in range(2):
        with pytest.raises(FileDamagedError) as caught:
            follower.poll()
        assert (caught.value.line, caught.value.byte_offset) == (3, len(lines("a", 1, 2)))


def test_a_poll_has_a_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long file is given in parts, none lost between them; what is not wanted does not count."""
    monkeypatch.setattr(followed, "_BATCH_BYTES", 2 * len(line("a", 1)))
    path.write_bytes(lines("a", 1, 2, 3, 4, 5))
    follower = Follower(path)
    assert [len(follower.poll()) for _ in range(4)] == [2, 2, 1, 0]
    assert places(Follower(path, from_seq=5).poll()) == [("a", 5)]
    assert places(follow(path, stop=lambda: True)) == [("a", seq) for seq in range(1, 6)]


def test_a_line_may_be_longer_than_a_read(path: Path) -> None:
    """Lines across the reads of a file come out whole."""
    with FileSink(path, clock=clock, fsync="never") as sink:
        for length in (300_000, 1, 524_000, 262_144, 2):
            sink.append_draft("a", EventDraft("x.seen", "x" * length))
    assert [len(event.payload) for event in follow(path, stop=lambda: True)] == [300_000, 1, 524_000, 262_144, 2]
    assert b"".join(serialise_event(event) + b"\n" for event in read_events(path)) == path.read_bytes()


def test_a_root_gives_all_its_runs(tmp_path: Path) -> None:
    """New runs are found as they appear, short names and shortened ones; what is no run's is passed over."""
    root = tmp_path / "runs"
    follower = Follower(root)
    assert follower.poll() == []
    long = "L" * 300
    with DirectorySink(root, clock=clock) as sink:
        assert follower.poll() == []
        sink.append_draft("a", TEXT)
        (root / ".git").mkdir()
        (root / "empty").mkdir()
        (root / "file").write_bytes(b"x")
        sink.append_draft(long, TEXT)
        assert sorted(places(follower.poll())) == sorted([("a", 1), (long, 1)])
        sink.append_draft("a", FINISH)
        sink.append_draft("new", TEXT)
        assert sorted(places(follower.poll())) == [("a", 2), ("new", 1)]
        assert follower.poll() == []
    assert not follower.is_finished
    assert sorted(places(follow(root, from_seq={"a": 2, long: 2}, stop=lambda: True))) == [("a", 2), ("new", 1)]


def test_one_run_below_a_root(tmp_path: Path) -> None:
    """One run is found under its name, and followed to its finish."""
    with DirectorySink(tmp_path, clock=clock) as sink:
        steps = Steps(
            lambda: sink.append_draft("another", TEXT),
            lambda: sink.append_draft("A b", TEXT),
            lambda: sink.append_draft("A b", FINISH),
        )
        assert places(follow(tmp_path, "A b", sleep=steps)) == [("A b", 1), ("A b", 2)]


def test_a_runs_directory_is_no_root(tmp_path: Path) -> None:
    """To follow the directory of one run as if it were the root would wait for ever; it is told instead."""
    with DirectorySink(tmp_path, clock=clock) as sink:
        sink.append_draft("r", TEXT)
    with pytest.raises(SinkFileError, match="directory of one"):
        Follower(tmp_path / "r").poll()


@pytest.mark.parametrize("run_id", ["b", "B" * 200])
def test_damage_of_one_run_stops_no_other(tmp_path: Path, run_id: str) -> None:
    """A damaged run is told after what the others gave, and the next polls still give theirs."""
    with DirectorySink(tmp_path, clock=clock) as sink:
        for one in ("a", "c"):
            sink.append_draft(one, TEXT)
        (tmp_path / name_of_run(run_id)).mkdir()
        (tmp_path / name_of_run(run_id) / "events.jsonl").write_bytes(line("stranger", 1))
        follower = Follower(tmp_path)
        given: list[Event] = []
        reasons: list[str] = []
        for _ in range(6):
            try:
                given += follower.poll()
            except FileDamagedError as error:
                reasons.append(error.reason)
        assert sorted(places(given)) == [("a", 1), ("c", 1)]
        assert len(reasons) >= 2
        assert all("named for" in reason for reason in reasons)
        sink.append_draft("a", TEXT)
        sink.append_draft("c", TEXT)
        for _ in range(6):
            try:
                given += follower.poll()
            except FileDamagedError:
                continue
        assert sorted(places(given)) == [("a", 1), ("a", 2), ("c", 1), ("c", 2)]


def test_damage_is_told_however_busy_the_others_are(tmp_path: Path) -> None:
    """A damaged run whose turn was cut short by the events of others comes first at the next poll."""
    with DirectorySink(tmp_path, clock=clock) as sink:
        sink.append_draft("a", TEXT)
        sink.append_draft("c", TEXT)
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "events.jsonl").write_bytes(line("b", 2))
        follower = Follower(tmp_path)
        assert places(follower.poll()) == [("a", 1)]
        sink.append_draft("a", TEXT)
        with pytest.raises(FileDamagedError):
            follower.poll()
        assert places(follower.poll()) == [("c", 1), ("a", 2)]


def test_each_run_has_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A poll of a root has a bound, and the next one goes on with the run that is due."""
    monkeypatch.setattr(followed, "_EVENTS_ENOUGH", 2)
    with DirectorySink(tmp_path, clock=clock) as sink:
        for run_id in "abcde":
            sink.append_draft(run_id, TEXT)
        follower = Follower(tmp_path)
        assert places(follower.poll()) == [("a", 1), ("b", 1)]
        sink.append_draft("a", TEXT)
        assert places(follower.poll()) == [("c", 1), ("d", 1)]
        assert places(follower.poll()) == [("e", 1), ("a", 2)]
        assert follower.poll() == []


def test_reading_once_needs_a_file(path: Path) -> None:
    """A replay without following gives one run or all, and says where there is no file."""
    with pytest.raises(FileNotFoundError):
        next(read_events(path))
    path.write_bytes(line("a", 1) + line("b", 1) + line("a", 2)[:-1])
    assert places(read_events(path)) == [("a", 1), ("b", 1)]
    assert places(read_events(path, "b")) == [("b", 1)]
