"""The sink in memory."""

from typing import Any

import pytest

import ethogram
from ethogram import EventDraft, InMemorySink, ParseError, RunClosedError, SequenceError
from tests.unit.ethogram.samples import MINIMAL, event_members

TEXT = EventDraft("agent.text", {"text": "t"})
FINISH = EventDraft("run.finished", MINIMAL["run.finished"])


def make_sink() -> tuple[InMemorySink, list[str]]:
    """A sink and the times it has asked for."""
    asked: list[str] = []

    def clock() -> str:
        asked.append(f"time {len(asked)}")
        return asked[-1]

    return InMemorySink(clock), asked


def test_drafts_are_stamped_gapless_by_run() -> None:
    """Each run goes 1, 2, 3, with the sink's time, whatever the other runs do."""
    sink, _ = make_sink()
    stored = [sink.append_draft(run_id, TEXT) for run_id in ("a", "b", "a", "a")]
    assert [(event.run_id, event.seq, event.ts) for event in stored] == [
        ("a", 1, "time 0"),
        ("b", 1, "time 1"),
        ("a", 2, "time 2"),
        ("a", 3, "time 3"),
    ]
    assert sink.events("a") == (stored[0], stored[2], stored[3])
    assert sink.events("unknown") == ()


def test_stamped_events_keep_seq_and_time() -> None:
    """An event of another sink is kept as it is, or refused where it leaves a gap or repeats."""
    sink, asked = make_sink()
    assert sink.append_event(event_members(ts="then")).ts == "then"
    for seq in (1, 3):
        with pytest.raises(SequenceError) as caught:
            sink.append_event(event_members(seq=seq))
        assert (caught.value.run_id, caught.value.expected, caught.value.received) == ("r", 2, seq)
    assert sink.append_event(ethogram.parse_event(event_members(seq=2))).seq == 2
    assert asked == []


def test_closure_comes_before_sequence() -> None:
    """After a finish every append is refused as closed, whatever its seq; an alike type does not close."""
    sink, asked = make_sink()
    sink.append_draft("r", EventDraft("run.finishedx", {}))
    sink.append_draft("r", FINISH)
    with pytest.raises(RunClosedError) as caught:
        sink.append_draft("r", TEXT)
    assert caught.value.run_id == "r"
    for seq in (1, 3, 9):
        with pytest.raises(RunClosedError):
            sink.append_event(event_members(seq=seq))
    assert len(asked) == 2


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
def test_what_would_not_parse_is_refused_and_takes_nothing(draft: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """A refused append takes no seq, asks for no time and closes nothing."""
    sink, asked = make_sink()
    with pytest.raises(ParseError):
        sink.append_draft("r", draft)
    with pytest.raises(ParseError):
        sink.append_draft("\ud800", TEXT)
    assert asked == []
    assert sink.append_draft("r", TEXT).seq == 1


def test_stored_events_are_the_sinks_own() -> None:
    """A caller's later change of a payload does not reach what is stored."""
    sink, _ = make_sink()
    payload: dict[str, Any] = {"text": "t", "more": [1]}
    sink.append_draft("r", EventDraft("agent.text", payload))
    payload["more"] = 2
    assert sink.events("r")[0].payload == {"text": "t", "more": [1]}


def test_policy_is_the_callers_affair() -> None:
    """A sink keeps what validation would refuse, and checks no lifecycle."""
    sink, _ = make_sink()
    sink.append_draft("r", EventDraft("agent.warning", {"message": "m" * 5000}))
    start = EventDraft("run.started", MINIMAL["run.started"])
    assert [sink.append_draft("r", start).seq, sink.append_draft("r", start).seq] == [2, 3]


def test_the_default_clock_writes_iso_8601() -> None:
    """Without a clock of the caller's, times are UTC to the millisecond."""
    ts = InMemorySink().append_draft("r", TEXT).ts
    assert len(ts) == len("2026-01-01T00:00:00.000Z")
    assert (ts[10], ts[-1]) == ("T", "Z")
