"""Drafts, events and the stamp."""

from typing import Any

import pytest

import ethogram
from ethogram import Event, EventDraft


def test_stamp_keeps_the_draft() -> None:
    """A stamp adds run, seq and time, and leaves type, payload and capturedAt as they are."""
    draft = EventDraft("agent.text", {"text": "t"}, "then")
    event = ethogram.stamp(draft, run_id="r", seq=3, ts="now")
    assert event == Event("agent.text", "r", 3, "now", {"text": "t"}, "then")
    assert event.v == 1
    assert event.payload is draft.payload


@pytest.mark.parametrize("seq", [0, -1, True, 1.0, "1", None, 2**53])
def test_stamp_refuses_what_is_no_seq(seq: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """A seq is a positive safe integer, not a bool, a float or a string."""
    with pytest.raises(ethogram.ParseError, match=r"^seq: "):
        ethogram.stamp(EventDraft("x", 1), run_id="r", seq=seq, ts="t")


@pytest.mark.parametrize(
    ("draft", "run_id", "ts", "path"),
    [
        (EventDraft("\ud800", 1), "r", "t", "type"),
        (EventDraft("x", 1), "\udfff", "t", "runId"),
        (EventDraft("x", 1), "r", 5, "ts"),
        (EventDraft("x", 1, 5), "r", "t", "capturedAt"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_stamp_refuses_what_is_no_text(draft: EventDraft, run_id: str, ts: Any, path: str) -> None:  # noqa: ANN401 - any at all
    """Every text of an envelope is one that UTF-8 can hold."""
    with pytest.raises(ethogram.ParseError) as caught:
        ethogram.stamp(draft, run_id=run_id, seq=1, ts=ts)
    assert caught.value.path == path


def test_event_is_immutable() -> None:
    """No member of an event can be set."""
    event = Event("x", "r", 1, "t", 1)
    with pytest.raises(AttributeError):
        event.seq = 2  # type: ignore[misc]  # the point of the test


def test_to_dict_leaves_out_what_is_absent() -> None:
    """Absence is the only spelling of absence."""
    assert Event("x", "r", 1, "t", None).to_dict() == {
        "v": 1,
        "type": "x",
        "runId": "r",
        "seq": 1,
        "ts": "t",
        "payload": None,
    }
    assert Event("x", "r", 1, "t", None, "").to_dict()["capturedAt"] == ""
