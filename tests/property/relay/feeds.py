"""Random feeds of records: right ones, gaps, duplicates, malformed and over-bound ones, foreign sources, finishes."""

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

from relay.records import SourceRecord

SOURCES = ("a", "b")
RUN_IDS = ("r", "q", "é", "ethogram-relay/i/0")


class Said(NamedTuple):
    """What a producer said, before it is a record."""

    source: str
    partition: int
    run_id: str
    seq: int
    what: str
    """`seen`, `finish`, `over_bound`, `refused_finish`, `malformed_payload`, `broken`, `tombstone`, `other_key`."""


WHATS = ("seen",) * 6 + (
    "finish",
    "over_bound",
    "refused_finish",
    "malformed_payload",
    "broken",
    "tombstone",
    "other_key",
)

_PAYLOADS: dict[str, tuple[str, Any]] = {
    "finish": ("run.finished", {"outcome": "completed", "durationMs": 1}),
    "over_bound": ("agent.warning", {"message": "m" * 4097}),
    "refused_finish": ("run.finished", {"outcome": "won", "durationMs": 1}),
    "malformed_payload": ("run.finished", {"outcome": "completed"}),
}

says = st.builds(
    Said,
    st.sampled_from(("a", "a", "a", "b")),
    st.sampled_from((0, 0, 1)),
    st.sampled_from(("r", "r", "q", "é", "ethogram-relay/i/0")),
    st.integers(1, 5),
    st.sampled_from(WHATS),
)


def _steps(drawn: list[tuple[Said, int]]) -> list[Said]:
    """Give most events the seq that is next in their run: a random one would nearly always be refused."""
    next_seq: dict[tuple[int, str], int] = {}
    steps = []
    for said, luck in drawn:
        place = said.partition, said.run_id
        expected = next_seq.get(place, 1)
        step = said if luck == 0 else said._replace(seq=expected)
        if step.seq == expected:
            next_seq[place] = expected + 1
        steps.append(step)
    return steps


feeds = st.lists(st.tuples(says, st.integers(0, 5)), max_size=40).map(_steps)
"""Feeds in order of arrival."""


def document(said: Said) -> bytes | None:
    """The value of a record."""
    if said.what == "tombstone":
        return None
    if said.what == "broken":
        return b'{"v":1,"runId":"' + said.run_id.encode() + b'"'
    event_type, payload = _PAYLOADS.get(said.what, ("x.seen", {"n": said.seq}))
    members = {"v": 1, "type": event_type, "runId": said.run_id, "seq": said.seq, "ts": "t", "payload": payload}
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def records_of(feed: list[Said]) -> list[SourceRecord]:
    """The feed as records, offsets counted in each topic-partition."""
    offsets: dict[tuple[str, int], int] = {}
    records = []
    for said in feed:
        offset = offsets.get((said.source, said.partition), 0)
        offsets[said.source, said.partition] = offset + 1
        key = b"other" if said.what == "other_key" else said.run_id.encode()
        records.append(SourceRecord(said.source, said.partition, offset, 1000 + offset, key, document(said), None))
    return records
