"""The judge cannot fail: every bad input has a refusal."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

import ethogram
from relay.codec import (
    CodecError,
    Quarantined,
    changelog_subject,
    decode_quarantined,
    decode_relay_run,
    decode_run_state,
    decode_source_position,
    encode_quarantined,
    encode_run_state,
)
from relay.judge.judge import judge
from relay.judge.run_state import RunState
from relay.judge.verdict import Judgement
from relay.records import SourceRecord, record_batch_bytes
from tests.property.strategies import events, odd_values, spoilt_payloads
from tests.unit.relay.samples import rules


def as_json(value: Any) -> bytes:  # noqa: ANN401 - any Python value
    """A value as JSON, however odd; what JSON does not have is written as text."""
    try:
        return json.dumps(value, default=str, skipkeys=True).encode("utf-8", "surrogatepass")
    except ValueError:
        return repr(value).encode("utf-8", "surrogatepass")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = st.none() | st.binary(max_size=8) | texts.map(str.encode)
names = st.sampled_from(["v", "type", "runId", "seq", "ts", "payload", "capturedAt", "x"])
documents = (
    st.none()
    | st.binary(max_size=60)
    | events.map(ethogram.serialise_event)
    | st.tuples(events.map(ethogram.serialise_event), st.integers(0, 80), st.binary(max_size=3)).map(
        lambda spoilt: spoilt[0][: spoilt[1]] + spoilt[2] + spoilt[0][spoilt[1] + 1 :]
    )
    | st.dictionaries(names, odd_values, max_size=8).map(as_json)
    | st.tuples(texts, st.integers(0, 3), spoilt_payloads).map(
        lambda drawn: as_json(
            {"v": 1, "type": drawn[2][0], "runId": drawn[0], "seq": drawn[1], "ts": "t", "payload": drawn[2][1]}
        )
    )
)
headers = st.none() | st.lists(st.tuples(texts, st.none() | st.binary(max_size=3)), max_size=3)
states = st.none() | st.builds(RunState, st.integers(1, 3), st.booleans(), st.sampled_from(["a", "b"]))
records = st.builds(
    SourceRecord, st.just("a"), st.integers(0, 3), st.integers(0, 99), st.integers(-1, 99), keys, documents, headers
)


MODES = (True, True)
"""Enforcing and advancing, where it does not matter."""


class OneState:
    """Every run has the same state."""

    def __init__(self, state: RunState | None) -> None:
        self.state = state

    def get(self, _run_id: str, /) -> RunState | None:
        """The state."""
        return self.state


def assert_is_sound(judgement: Judgement, record: SourceRecord, state: RunState | None, record_bytes_max: int) -> None:
    """What holds of every judgement, whatever was judged."""
    if judgement.refusal is None:
        event = ethogram.parse_event(record.value or b"")
        assert judgement.next_state is not None
        assert judgement.next_state.next_seq == event.seq + 1
        assert event.seq == (1 if state is None else state.next_seq)
        assert record.key == event.run_id.encode()
        assert record_batch_bytes(record.key, record.value, record.headers) <= record_bytes_max
        return
    draft = judgement.refusal.draft
    ethogram.validate(draft.type, draft.payload)
    stamped = ethogram.serialise_event(ethogram.stamp(draft, run_id="o", seq=1, ts="t"))
    assert ethogram.parse_event(stamped).payload == draft.payload
    assert judgement.run_id == judgement.refusal.source_run_id
    assert judgement.finding is None
    encode_quarantined(Quarantined(record, judgement.refusal.cause.value, judgement.run_id, "o", 1, 0))
    if judgement.next_state is not None:
        assert not judgement.next_state.finished


@given(
    record=records,
    state=states,
    enforce=st.booleans(),
    advance=st.booleans(),
    murmur2=st.sampled_from([0, 2]),
    record_bytes_max=st.sampled_from([90, 150, 1_000_000]),
)
@example(SourceRecord("a", 0, 0, 0, b"\xff", b"[" * 5000, None), None, *MODES, 0, 1_000_000)
@example(SourceRecord("a", 0, 0, 0, None, b'{"runId":"\\ud800"}', None), None, *MODES, 0, 1_000_000)
@example(SourceRecord("a", 0, 0, 0, b"", b'{"v":1e400,"seq":-0}', [("", None)]), None, *MODES, 2, 90)
def test_the_judge_never_raises(
    record: SourceRecord,
    state: RunState | None,
    enforce: bool,  # noqa: FBT001 - drawn
    advance: bool,  # noqa: FBT001 - drawn
    murmur2: int,
    record_bytes_max: int,
) -> None:
    """Whatever the bytes, the key, the headers, the state and the rules, there is a verdict, and it is sound."""
    how = rules(enforce=enforce, advance=advance, murmur2=murmur2, record_bytes_max=record_bytes_max)
    judgement = judge(record, OneState(state), how)
    assert_is_sound(judgement, record, state, record_bytes_max)
    assert judge(record, OneState(state), how) == judgement, "the judge keeps nothing"


state_header = encode_run_state(RunState(1, finished=False, source=""))[:10]


@given(st.binary(max_size=80) | st.binary(max_size=30).map(lambda body: state_header + body))
def test_any_bytes_decode_or_raise_a_codec_error(value: bytes) -> None:
    """Nothing but CodecError comes out of a foreign value or key."""
    for decode in (
        decode_run_state,
        decode_source_position,
        decode_relay_run,
        decode_quarantined,
        changelog_subject,
    ):
        try:
            decode(value)
        except CodecError:
            continue


quarantined = st.builds(
    Quarantined,
    st.builds(
        SourceRecord,
        texts,
        st.integers(0, 2**31 - 1),
        st.integers(0, 2**63 - 1),
        st.integers(-(2**63), 2**63 - 1),
        st.none() | st.binary(max_size=9),
        st.none() | st.binary(max_size=9),
        st.lists(st.tuples(texts, st.none() | st.binary(max_size=3)), max_size=3),
    ),
    texts,
    texts,
    texts,
    st.integers(1, 2**53),
    st.integers(0, 2**53),
)


@given(quarantined)
def test_quarantined_records_come_back_whole(refused: Quarantined) -> None:
    """A refused record comes out of the quarantine byte for byte, headers in their order, repeats kept."""
    assert decode_quarantined(encode_quarantined(refused)) == refused
