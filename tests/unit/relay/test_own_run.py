"""The relay's own run."""

import pytest

from ethogram import EventDraft, ValidationError, parse_event, prove_gapless
from relay import __version__
from relay.codec import RelayRun
from relay.own_run import OwnRun
from tests.unit.relay.samples import NOW_MS

RUN_ID = "relay/i/1"
REFUSAL = EventDraft("capture.refused", {"cause": "gap", "sourceRunId": "r"})


def opened() -> OwnRun:
    """An own run that is open and committed."""
    own = OwnRun("relay", "relay/i", "u")
    own.open(RUN_ID, NOW_MS)
    own.commit()
    return own


def test_a_run_begins_with_what_it_is() -> None:
    """`run.started` names kind, actor and harness, is keyed by its run and stamped by the relay's clock."""
    own = OwnRun("relay", "relay/i", "u")
    started = own.open(RUN_ID, NOW_MS)
    assert (
        started.value
        == (
            '{"v":1,"type":"run.started","runId":"relay/i/1","seq":1,"ts":"2025-12-01T08:30:00.125Z",'
            f'"payload":{{"actor":"relay","harness":"ethogram-relay {__version__}","kind":"relay"}}}}'
        ).encode()
    )
    assert (started.topic, started.key, started.partition) == ("u", b"relay/i/1", -1)
    assert (started.timestamp_ms, started.headers) == (NOW_MS, None)
    assert own.staged == RelayRun(RUN_ID, 2, NOW_MS)
    assert own.current is None
    assert own.touched


def test_a_run_is_gapless_from_one() -> None:
    """Start, refusals and end are numbered 1, 2, 3, …, whatever transactions they came in."""
    own = OwnRun("relay", "relay/i", "u")
    records = [own.open(RUN_ID, NOW_MS)]
    own.commit()
    records += [own.refuse(REFUSAL, NOW_MS, [("h", b"v")]), own.refuse(REFUSAL, NOW_MS, [])]
    own.commit()
    records.append(own.close("completed", "stopped", NOW_MS + 5000))
    events = [parse_event(record.value or b"") for record in records]
    assert prove_gapless(events) == {RUN_ID: 4}
    assert records[1].headers == [("h", b"v")]
    assert events[3].payload == {"outcome": "completed", "reason": "stopped", "durationMs": 5000}
    assert own.staged is None
    own.commit()
    assert own.current is None


def test_an_aborted_transaction_gives_its_numbers_back() -> None:
    """After a drop the next refusal takes the number that the dropped one had."""
    own = opened()
    dropped = own.refuse(REFUSAL, NOW_MS, [])
    touched = [own.touched]
    own.drop()
    touched.append(own.touched)
    assert touched == [True, False]
    assert own.refuse(REFUSAL, NOW_MS, []) == dropped


def test_a_duration_is_never_negative() -> None:
    """A clock that was set back does not make an invalid event."""
    assert b'"durationMs":0' in (opened().close("failed", "r", NOW_MS - 1000).value or b"")


def test_an_adopted_run_goes_on_where_it_was() -> None:
    """What the relays topic says of an identity is current at once."""
    own = OwnRun("relay", "relay/i", "u")
    own.adopt(RelayRun("relay/i/0", 9, NOW_MS - 60_000))
    assert not own.touched
    event = parse_event(own.close("failed", "left open", NOW_MS).value or b"")
    assert (event.run_id, event.seq, event.payload["durationMs"]) == ("relay/i/0", 9, 60_000)


def test_own_events_are_validated() -> None:
    """An own event that `validate` refuses is never written."""
    own = opened()
    with pytest.raises(ValidationError):
        own.refuse(EventDraft("capture.refused", {"cause": "odd", "sourceRunId": "r"}), NOW_MS, [])
    assert not own.touched


def test_nothing_is_said_before_the_start_or_after_the_end() -> None:
    """Without an open run a refusal or an end is an error of ours."""
    own = OwnRun("relay", "relay/i", "u")
    with pytest.raises(RuntimeError, match="not open"):
        own.refuse(REFUSAL, NOW_MS, [])
    with pytest.raises(RuntimeError, match="not open"):
        own.close("failed", "r", NOW_MS)
