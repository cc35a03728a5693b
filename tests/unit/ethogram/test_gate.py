"""What every run takes next."""

import pytest

from ethogram import Event, EventDraft, ParseError, RunClosedError, SequenceError, ValidationError
from ethogram.gate import Gate, read_draft, read_event
from tests.unit.ethogram.samples import MINIMAL, event_members

FINISH = MINIMAL["run.finished"]


def event(run_id: str, seq: int, event_type: str = "x.seen") -> Event:
    """An event of a type that may close its run."""
    return Event(event_type, run_id, seq, "t", FINISH)


def test_runs_go_one_by_one() -> None:
    """Each run begins at 1 and takes the next, apart from the others; to check changes nothing."""
    gate = Gate()
    for run_id, seq in (("a", 1), ("b", 1), ("a", 2)):
        gate.check(event(run_id, seq))
        gate.check(event(run_id, seq))
        gate.take(event(run_id, seq))
    assert [gate.next_seq(run_id) for run_id in ("a", "b", "c")] == [3, 2, 1]


@pytest.mark.parametrize("seq", [1, 2, 4, 9])
def test_what_is_not_next_is_refused(seq: int) -> None:
    """A gap and a repetition are told with what was expected and what came."""
    gate = Gate()
    gate.take(event("r", 1))
    gate.take(event("r", 2))
    with pytest.raises(SequenceError) as caught:
        gate.check(event("r", seq))
    assert (caught.value.run_id, caught.value.expected, caught.value.received) == ("r", 3, seq)


def test_a_finish_closes_whatever_the_seq() -> None:
    """After a finish the run takes nothing, and closure is told before sequence."""
    gate = Gate()
    gate.take(event("r", 1, "run.finished"))
    assert gate.is_closed("r")
    assert not gate.is_closed("another")
    for seq in (1, 2, 7):
        with pytest.raises(RunClosedError):
            gate.check(event("r", seq))
    with pytest.raises(RunClosedError) as caught:
        gate.next_seq("r")
    assert caught.value.run_id == "r"


def test_to_take_twice_is_to_take_once() -> None:
    """An append that was interrupted may be taken again without harm."""
    gate = Gate()
    for _again in range(2):
        gate.take(event("r", 1))
    assert gate.next_seq("r") == 2


def test_reading_copies_and_refuses() -> None:
    """Drafts and events become the sink's own, or are refused by parsing, and by validating where it is asked for."""
    payload = {"message": "m" * 5000}
    draft = EventDraft("agent.warning", payload)
    assert read_draft("r", draft).payload is not payload
    with pytest.raises(ValidationError):
        read_draft("r", draft, validating=True)
    with pytest.raises(ParseError):
        read_draft("\udfff", draft, validating=True)
    members = event_members(type="agent.warning", payload=payload, seq=7)
    assert read_event(members).seq == 7
    with pytest.raises(ValidationError):
        read_event(members, validating=True)
    with pytest.raises(ParseError):
        read_event(event_members(seq=True))
