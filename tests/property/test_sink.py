"""Sinks on files against a small model, cut anywhere, followed in any steps; and names of runs."""

import string
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ethogram import Event, EventDraft, RunClosedError, SequenceError, prove_gapless, serialise_event
from ethogram.files import DirectorySink, FileDamagedError, FileSink, Follower, name_of_run, run_id_of
from ethogram.files.naming import NAME_BYTES_MAX
from tests.property import strategies
from tests.unit.ethogram.samples import MINIMAL

TS = "2026-01-01T00:00:00.000Z"
RUN_IDS = ("a", "A", "a/b", "")

run_ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.text(
    st.sampled_from("aA./%~\0eé\u0301-"), max_size=150
)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for one example."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@dataclass
class Model:
    """What a sink must hold, kept as simply as can be: the lines of each run, and of all in order."""

    by_run: dict[str, list[Event]] = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=list)

    def offer(self, run_id: str, seq: int | None, draft: EventDraft) -> str:
        """The outcome of an append; seq is None for a draft."""
        held = self.by_run.get(run_id, [])
        if any(event.type == "run.finished" for event in held):
            return "closed"
        if seq is not None and seq != len(held) + 1:
            return f"expected {len(held) + 1}"
        event = Event(draft.type, run_id, len(held) + 1, TS, draft.payload, draft.captured_at)
        self.by_run[run_id] = [*held, event]
        self.lines.append(serialise_event(event) + b"\n")
        return "taken"


def offer(sink: FileSink | DirectorySink, run_id: str, seq: int | None, draft: EventDraft) -> str:
    """The outcome of the same append to a sink."""
    try:
        if seq is None:
            sink.append_draft(run_id, draft)
        else:
            sink.append_event(Event(draft.type, run_id, seq, TS, draft.payload, draft.captured_at))
    except RunClosedError:
        return "closed"
    except SequenceError as error:
        return f"expected {error.expected}"
    return "taken"


drafts = st.builds(EventDraft, st.just("x.seen"), strategies.json_values, st.none() | strategies.texts) | st.just(
    EventDraft("run.finished", MINIMAL["run.finished"])
)
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(RUN_IDS), st.none() | st.integers(1, 6), drafts),
        st.sampled_from(["restart", "torn", "unended"]),
    ),
    max_size=25,
)


def tear(path: Path, how: str) -> None:
    """Leave the file as a killed writer would: with half an event, or with a last one that lacks its line feed."""
    content = path.read_bytes()
    if not content.endswith(b"\n"):  # Torn already, and nobody has opened it since.
        return
    if how == "torn":
        path.write_bytes(content + b'{"v":1,"type":"run.fini')
    elif how == "unended":
        path.write_bytes(content[:-1])


def tear_all(root: Path, how: str) -> None:
    """Leave every run's file so."""
    for path in root.rglob("events.jsonl"):
        tear(path, how)


@settings(max_examples=60)
@given(steps)
def test_a_file_holds_what_the_model_holds(history: list[Any]) -> None:
    """Whatever is appended, refused, restarted and torn, the file is the model's lines, and each run its events."""
    model = Model()
    with folder() as place:
        path = place / "events.jsonl"
        sink = FileSink(path, clock=lambda: TS, fsync="never")
        for step in history:
            if isinstance(step, str):
                sink.close()
                tear(path, step)
                sink = FileSink(path, clock=lambda: TS, fsync="never")
                assert (sink.recovery is not None) == (step != "restart" and bool(model.lines))
            else:
                assert offer(sink, *step) == model.offer(*step)
        assert path.read_bytes() == b"".join(model.lines)
        assert all(sink.events(run_id) == tuple(model.by_run.get(run_id, ())) for run_id in RUN_IDS)
        sink.close()


@settings(max_examples=60)
@given(steps)
def test_a_directory_holds_what_the_model_holds(history: list[Any]) -> None:
    """The same on a directory, where each run is torn by itself."""
    model = Model()
    with folder() as place:
        sink = DirectorySink(place, clock=lambda: TS, fsync="never")
        for step in history:
            if isinstance(step, str):
                sink.close()
                tear_all(place, step)
                sink = DirectorySink(place, clock=lambda: TS, fsync="never")
            else:
                assert offer(sink, *step) == model.offer(*step)
        sink.close()
        with DirectorySink(place, fsync="never") as mended:
            for run_id, events in model.by_run.items():
                offer(mended, run_id, 99, EventDraft("x.seen", 1))  # Opens the run, and is refused.
                lines = b"".join(serialise_event(event) + b"\n" for event in events)
                assert mended.path_of(run_id).read_bytes() == lines
                assert mended.events(run_id) == tuple(events)


@settings(max_examples=15)
@given(st.lists(drafts, min_size=1, max_size=4), st.sampled_from(RUN_IDS))
def test_a_cut_anywhere_in_the_last_line_is_mended(history: list[EventDraft], run_id: str) -> None:
    """Cut at every byte of the last line and opened: nothing before it changes, seq goes on, a follower is not lost.

    The follower read before the cut file was opened, so it stands where the last line begins.
    """
    model = Model()
    for draft in history:
        model.offer(run_id, None, draft)
    with folder() as place:
        for cut in range(len(model.lines[-1]) + 1):
            check_cut(place / f"{cut}.jsonl", model, run_id, cut)


def check_cut(path: Path, model: Model, run_id: str, cut: int) -> None:
    """Cut a file of one run, look at it, open it, append, and look again."""
    *before, last = model.lines
    held = model.by_run[run_id]
    path.write_bytes(b"".join(before) + last[:cut])
    follower = Follower(path)
    followed = follower.poll()
    assert followed == (held if cut == len(last) else held[:-1])
    is_whole = cut >= len(last) - 1
    kept = [*before, last] if is_whole else before
    with FileSink(path, clock=lambda: TS, fsync="never") as sink:
        assert path.read_bytes() == b"".join(kept)
        assert (sink.recovery is None) == (cut in {0, len(last)})
        if is_whole and held[-1].type == "run.finished":
            assert followed + follower.poll() == held
            return
        assert sink.append_draft(run_id, EventDraft("x.seen", "after")).seq == len(kept) + 1
        assert followed + follower.poll() == list(sink.events(run_id))
        assert prove_gapless(sink.events(run_id)) == {run_id: len(kept) + 1}


@given(st.lists(drafts, min_size=1, max_size=5), st.data())
def test_a_follower_sees_the_same_in_any_steps(history: list[EventDraft], data: st.DataObject) -> None:
    """However the bytes of a file come and whenever it is looked at, a follower gives its events, each once."""
    model = Model()
    for index, draft in enumerate(history):
        model.offer(RUN_IDS[index % 2], None, draft)
    content = b"".join(model.lines)
    first_seq = data.draw(st.integers(1, 3))
    with folder() as place:
        path = place / "events.jsonl"
        follower = Follower(path, from_seq=first_seq)
        given_events: list[Event] = []
        at = 0
        while at < len(content):
            step = data.draw(st.integers(1, len(content) - at))
            with path.open("ab") as file:
                file.write(content[at : at + step])
            at += step
            given_events += follower.poll()
        assert follower.poll() == []
        for run_id in RUN_IDS:
            wanted = model.by_run.get(run_id, [])[first_seq - 1 :]
            assert [event for event in given_events if event.run_id == run_id] == wanted


@settings(max_examples=40)
@given(st.lists(drafts, min_size=2, max_size=4), st.data())
def test_a_spoilt_file_is_never_touched(history: list[EventDraft], data: st.DataObject) -> None:
    """A byte spoilt in a whole line is either found, and the file left as it is, or makes another event that fits."""
    model = Model()
    for draft in history:
        model.offer("a", None, draft)
    content = bytearray(b"".join(model.lines))
    spoilt = data.draw(st.integers(0, len(content) - 2))
    content[spoilt] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[spoilt]))
    with folder() as place:
        path = place / "events.jsonl"
        path.write_bytes(content)
        with suppress(FileDamagedError):
            FileSink(path, fsync="never").close()
        assert path.read_bytes() == bytes(content)


@given(run_ids)
@example("con")
@example("%~" + "0" * 32)
def test_names_are_safe_and_can_be_read_back(run_id: str) -> None:
    """Every name is one plain, lower-case path component, and gives its run id back unless it is shortened."""
    name = name_of_run(run_id)
    assert 1 <= len(name) <= NAME_BYTES_MAX
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-_.%~")
    assert name[0] not in "-."
    assert name[-1] != "."
    assert name.casefold() == name == unicodedata.normalize("NFKD", name)
    assert run_id_of(name) == (None if "~" in name else run_id)
    assert ("~" in name) <= (len(run_id.encode()) * 3 > NAME_BYTES_MAX)


@given(run_ids, run_ids)
@example("a", "A")
@example("é", "e\u0301")
@example("x" * 200, "x" * 199 + "y")
@example("", "%")
def test_names_are_as_different_as_run_ids(one: str, other: str) -> None:
    """Two run ids have the same name only where they are the same."""
    assert (name_of_run(one) == name_of_run(other)) == (one == other)


@given(st.uuids())
def test_a_uuid_is_its_own_name(run_id: object) -> None:
    """The run ids of most producers can be read in a listing as they are."""
    assert name_of_run(str(run_id)) == str(run_id)


@pytest.mark.parametrize("run_id", RUN_IDS)
def test_the_models_runs_have_names_of_their_own(run_id: str) -> None:
    """The runs that histories are made of are told apart by escapes alone."""
    assert [name_of_run(one) for one in RUN_IDS].count(name_of_run(run_id)) == 1
