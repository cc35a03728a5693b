"""What every sink does, whatever it keeps its events in and however often its process ends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ethogram
from ethogram import (
    MAX_PAYLOAD_DEPTH,
    MAX_SAFE_INTEGER,
    EventDraft,
    ParseError,
    RunClosedError,
    SequenceError,
    ValidationError,
)
from tests.contract.sinks import KINDS, AnySink, as_sink, close
from tests.unit.ethogram.samples import MINIMAL, event_members

TEXT = EventDraft("agent.text", {"text": "t"})
FINISH = EventDraft("run.finished", MINIMAL["run.finished"])
ODD_RUN_IDS = ["", ".", "..", "a/b", "A", "a", "é", "e\u0301", "nul\0", "\n", "%41", "x" * 300, "x" * 299 + "y", "CON"]


@dataclass
class Subject:
    """A sink and the times it has asked for."""

    make: Callable[..., AnySink]
    folder: Path
    asked: list[str] = field(default_factory=list)

    def clock(self) -> str:
        """A time that tells how often it was asked."""
        self.asked.append(f"time {len(self.asked)}")
        return self.asked[-1]

    def open(self, *, validating: bool = False) -> AnySink:
        """The sink, made or opened again."""
        return self.make(self.folder, self.clock, validating=validating)


@pytest.fixture(params=KINDS, ids=lambda make: make.__name__)
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Subject:
    """One of each kind."""
    return Subject(request.param, tmp_path)


@pytest.fixture
def sink(subject: Subject) -> Iterator[AnySink]:
    """The sink of the subject, closed at the end."""
    opened = subject.open()
    yield opened
    close(opened)


def test_drafts_are_stamped_gapless_by_run(sink: AnySink) -> None:
    """Each run goes 1, 2, 3, with the sink's time, whatever the other runs do; what is returned is what is stored."""
    stored = [sink.append_draft(run_id, TEXT) for run_id in ("a", "b", "a", "a")]
    assert [(event.run_id, event.seq, event.ts) for event in stored] == [
        ("a", 1, "time 0"),
        ("b", 1, "time 1"),
        ("a", 2, "time 2"),
        ("a", 3, "time 3"),
    ]
    assert as_sink(sink).events("a") == (stored[0], stored[2], stored[3])
    assert sink.events("b") == (stored[1],)
    assert sink.events("unknown") == ()
    assert [sink.next_seq(run_id) for run_id in ("a", "b", "unknown")] == [4, 2, 1]


def test_stamped_events_keep_seq_and_time(subject: Subject, sink: AnySink) -> None:
    """An event of another sink is kept as it is, or refused where it leaves a gap or repeats, and changes nothing."""
    with pytest.raises(SequenceError) as caught:
        sink.append_event(event_members(seq=2))
    assert (caught.value.expected, caught.value.received) == (1, 2)
    assert sink.append_event(event_members(ts="then", capturedAt="before")).ts == "then"
    for seq in (1, 3, MAX_SAFE_INTEGER):
        with pytest.raises(SequenceError) as caught:
            sink.append_event(event_members(seq=seq))
        assert (caught.value.run_id, caught.value.expected, caught.value.received) == ("r", 2, seq)
    assert sink.append_event(ethogram.parse_event(event_members(seq=2))).seq == 2
    assert sink.append_draft("r", TEXT).seq == 3
    assert subject.asked == ["time 0"]
    assert [(event.seq, event.ts, event.captured_at) for event in sink.events("r")] == [
        (1, "then", "before"),
        (2, "t", None),
        (3, "time 0", None),
    ]


@pytest.mark.parametrize("stamped", [False, True], ids=["drafts", "events"])
def test_closure_comes_before_sequence(subject: Subject, sink: AnySink, stamped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """On both paths a finish closes: every append is refused so, whatever its seq. An alike type does not close."""
    sink.append_draft("r", EventDraft("run.finishedx", {}))
    if stamped:
        sink.append_event(event_members(type="run.finished", seq=2, payload=MINIMAL["run.finished"]))
    else:
        sink.append_draft("r", FINISH)
    asked = len(subject.asked)
    for _again in range(2):
        with pytest.raises(RunClosedError) as caught:
            sink.append_draft("r", TEXT)
        assert caught.value.run_id == "r"
        for seq in (1, 3, 9):
            with pytest.raises(RunClosedError):
                sink.append_event(event_members(seq=seq))
    with pytest.raises(RunClosedError):
        sink.next_seq("r")
    assert len(subject.asked) == asked
    assert len(sink.events("r")) == 2
    assert sink.append_draft("another", TEXT).seq == 1


@pytest.mark.parametrize(
    "draft",
    [
        EventDraft("agent.text", {}),
        EventDraft("x", float("nan")),
        {"type": "x"},
        {"type": "x", "payload": 1, "runId": "r"},
        {"type": "run.finished", "payload": {"outcome": "completed"}},
    ],
)
def test_what_would_not_parse_is_refused_and_takes_nothing(subject: Subject, sink: AnySink, draft: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """A refused append takes no seq, asks for no time and closes nothing, whether its run is open or closed."""
    with pytest.raises(ParseError):
        sink.append_draft("r", draft)
    with pytest.raises(ParseError):
        sink.append_draft("\ud800", TEXT)
    assert sink.events("\ud800") == ()
    assert subject.asked == []
    assert sink.append_draft("r", TEXT).seq == 1
    sink.append_draft("r", FINISH)
    with pytest.raises(ParseError):
        sink.append_draft("r", draft)
    with pytest.raises(ParseError):
        sink.append_event(event_members(seq=0))


def test_validating_is_a_switch(subject: Subject) -> None:
    """Without it a sink keeps what validation would refuse; with it the append is refused before anything is taken."""
    long = EventDraft("agent.warning", {"message": "m" * 5000})
    stranger = event_members(type="run.finished", payload={"outcome": "vanished", "durationMs": 1})
    strict = subject.open(validating=True)
    with pytest.raises(ValidationError) as caught:
        strict.append_draft("r", long)
    assert caught.value.kind == "OverBound"
    with pytest.raises(ValidationError):
        strict.append_event(stranger)
    assert subject.asked == []
    assert strict.append_draft("r", TEXT).seq == 1
    close(strict)
    tolerant = subject.open()
    seq = tolerant.next_seq("r")
    assert tolerant.append_draft("r", long).seq == seq
    assert tolerant.append_event(stranger | {"seq": seq + 1}).seq == seq + 1
    close(tolerant)


def test_no_lifecycle_is_checked(sink: AnySink) -> None:
    """Two starts, or none, are the producer's affair."""
    start = EventDraft("run.started", MINIMAL["run.started"])
    assert [sink.append_draft("r", draft).seq for draft in (TEXT, start, start)] == [1, 2, 3]


def test_stored_events_are_the_sinks_own(sink: AnySink) -> None:
    """A caller's later change of a payload does not reach what is stored."""
    payload: dict[str, Any] = {"text": "t", "more": [1]}
    sink.append_draft("r", EventDraft("agent.text", payload))
    payload["more"] = 2
    assert sink.events("r")[0].payload == {"text": "t", "more": [1]}


def test_a_run_id_is_any_string(sink: AnySink) -> None:
    """Run ids that mean something to a file system, fold into each other, or are long, are runs of their own."""
    for run_id in ODD_RUN_IDS:
        assert sink.append_draft(run_id, TEXT).seq == 1
    for run_id in ODD_RUN_IDS:
        assert sink.append_draft(run_id, TEXT).seq == 2
    assert [[event.run_id for event in sink.events(run_id)] for run_id in ODD_RUN_IDS] == [
        [one] * 2 for one in ODD_RUN_IDS
    ]


def test_whatever_is_taken_can_be_read_back(sink: AnySink) -> None:
    """Payloads at the edges of the wire come back as they were: depth, numbers, line ends, what is no object."""
    deep: Any = "bottom"
    for _level in range(MAX_PAYLOAD_DEPTH):
        deep = [deep]
    payloads = [deep, MAX_SAFE_INTEGER, 5e-324, -0.0, 1e-7, None, "\u2028\r\n\x85\0", {"": {"\n": "\n"}}, [], "😀" * 9]
    stored = [sink.append_draft("r", EventDraft("x.seen", payload)) for payload in payloads]
    events = sink.events("r")
    assert [ethogram.serialise_event(event) for event in events] == [
        ethogram.serialise_event(event) for event in stored
    ]
    assert list(events[1:]) == stored[1:]
    assert ethogram.prove_gapless(events) == {"r": len(payloads)}
