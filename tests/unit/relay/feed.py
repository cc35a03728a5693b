"""A feed of two sources with one gap in it, and what becomes of it."""

from ethogram import parse_event
from relay.judge.run_state import RunState
from relay.records import TopicPartition
from tests.unit.relay.doubles import Rig
from tests.unit.relay.samples import event_record

A0, B0, A1, B1 = (TopicPartition(topic, number) for number in (0, 1) for topic in ("a", "b"))

FEED = [
    event_record("r", 1, offset=0),
    event_record("r", 2, offset=1),
    event_record("q", 1, topic="b", offset=0),
    event_record("r", 4, offset=2),
    event_record("r", 3, offset=3),
]
FORWARDED = [FEED[0], FEED[1], FEED[2], FEED[4]]


def own_events(rig: Rig) -> list[tuple[int, str]]:
    """Number and type of every event of the own run, in order."""
    events = [parse_event(one.value or b"") for one in rig.sink.written_to("u")]
    return [(event.seq, event.type) for event in events]


def assert_feed_is_done(rig: Rig) -> None:
    """The whole feed has its effects, once."""
    assert rig.sink.forwarded == FORWARDED
    assert own_events(rig) == [(1, "run.started"), (2, "capture.refused")]
    state = rig.partition().runs.get("r")
    assert state is not None
    assert state._replace(changed_ms=0) == RunState(4, finished=False, source="a")
    assert rig.partition().positions == {"a": 4, "b": 1}
    assert (rig.sink.committed_offset(A0), rig.sink.committed_offset(B0)) == (4, 1)
