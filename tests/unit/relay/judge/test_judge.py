"""The judge: every check and its cause."""

from typing import Any

import pytest

from relay.judge.judge import judge
from relay.judge.run_state import RunState
from relay.judge.verdict import Cause, Judgement
from relay.records import record_batch_bytes
from tests.unit.relay.judge.told import FINISHED_AT_3, NO_RUNS, OPEN_AT_3, payload_of, refused
from tests.unit.relay.samples import event_bytes, event_record, record, rules

FINISH = {"outcome": "completed", "durationMs": 1}


def test_the_expected_event_is_forwarded() -> None:
    """The event that the run expects passes, and its run expects the next."""
    assert judge(event_record(seq=3), OPEN_AT_3, rules()) == Judgement(None, "r", RunState(4, False, "a"), None, False)  # noqa: FBT003 - named tuples


def test_a_first_event_makes_the_run_and_its_owner() -> None:
    """An unknown run begins at 1 and belongs to the source that carried it."""
    judged = judge(event_record(seq=1, topic="b"), NO_RUNS, rules("b"))
    assert judged.refusal is None
    assert judged.next_state == RunState(2, finished=False, source="b")


def test_run_finished_closes_the_run() -> None:
    """A forwarded `run.finished` leaves the run finished."""
    judged = judge(event_record(seq=3, event_type="run.finished", payload=FINISH), OPEN_AT_3, rules())
    assert judged.refusal is None
    assert judged.next_state == RunState(4, finished=True, source="a")


def test_a_tombstone_is_malformed() -> None:
    """Value present: a record without a value is malformed, attributed by its key."""
    assert payload_of(record(None)) == {
        "cause": "malformed",
        "sourceRunId": "r",
        "detail": "value: expected an event, got a tombstone (no value) (envelope)",
    }


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b"", "event"),
        (b"\xff", "event"),
        (b"[]", "event"),
        (b"\xef\xbb\xbf" + event_bytes(), "event"),
        (event_bytes() + b"x", "event"),
        (event_bytes(extra=1), "extra"),
        (event_bytes(v=2), "v"),
        (event_bytes(capturedAt=None), "capturedAt"),
        (event_bytes(seq=0), "seq"),
        (event_bytes(seq=2**53), "seq"),
        (event_bytes(ts=5), "ts"),
        (b'{"v":1,"v":1' + event_bytes()[6:], "v"),
        (event_bytes().replace(b'"x.seen"', rb'"\ud800"'), "event"),
        (event_bytes().replace(b"{}", b"NaN"), "event"),
    ],
)
def test_an_envelope_that_cannot_be_read_is_malformed(value: bytes, path: str) -> None:
    """Envelope: each fault of the JSON or the envelope is malformed, names its path, and moves nothing."""
    judged = judge(record(value), NO_RUNS, rules(advance=True))
    assert refused(judged).cause is Cause.MALFORMED
    assert refused(judged).draft.payload["detail"].startswith(f"{path}: expected ")
    assert judged.next_state is None


@pytest.mark.parametrize(
    ("key", "detail"),
    [
        (None, "key: expected the record key to be the runId, got no key (envelope)"),
        (b"", "key: expected the record key to be the runId, got another key of 0 bytes (envelope)"),
        (b"other", "key: expected the record key to be the runId, got another key of 5 bytes (envelope)"),
        (b"\xff", "key: expected the record key to be the runId, got another key of 1 bytes (envelope)"),
    ],
)
def test_the_key_must_be_the_run_id(key: bytes | None, detail: str) -> None:
    """Key: no key or another key is malformed, says its size and not its bytes, and is attributed by the envelope."""
    assert payload_of(record(event_bytes(), key), how=rules(advance=True)) == {
        "cause": "malformed",
        "sourceRunId": "r",
        "sourceSeq": 1,
        "sourceType": "x.seen",
        "detail": detail,
    }


def test_reserved_run_ids_are_malformed() -> None:
    """Owner: a run id of the relay's own may not come from a source; one that only resembles it may."""
    assert payload_of(event_record("relay/x/1"))["detail"] == (
        "runId: expected a run of a source, got a run id that is reserved for the relay (envelope)"
    )
    assert judge(event_record("relay"), NO_RUNS, rules()).refusal is None
    assert judge(event_record("relay2/x"), NO_RUNS, rules()).refusal is None


def test_a_promised_partitioner_is_held_to() -> None:
    """Owner: where a source promises murmur2, a record outside its partition is malformed, and one inside passes."""
    how = rules(murmur2=2)
    inside = record(event_bytes("21"), b"21", partition=0)
    outside = record(event_bytes("21"), b"21", partition=1)
    assert judge(inside, NO_RUNS, how).refusal is None
    assert payload_of(outside, how=how)["detail"] == "partition: expected murmur2 of the key, 0, got 1 (envelope)"
    assert judge(outside, NO_RUNS, rules()).refusal is None


@pytest.mark.parametrize("advance", [False, True])
def test_one_run_has_one_source(advance: bool) -> None:  # noqa: FBT001 - both modes
    """Owner: another source's event of a run is malformed, names both sources, and never moves the owner's cursor."""
    judged = judge(event_record(seq=3, topic="b"), OPEN_AT_3, rules("b", advance=advance))
    assert refused(judged).draft.payload["detail"] == (
        "runId: expected this run from source a, which carried it first, got b (envelope)"
    )
    assert judged.next_state is None
    assert not judged.held


@pytest.mark.parametrize("enforce", [False, True])
def test_an_unrepresentable_payload_is_always_malformed(enforce: bool) -> None:  # noqa: FBT001 - both modes
    """Payload: what cannot be represented is refused whatever the validation mode."""
    missing = event_record(event_type="run.finished", payload={"outcome": "completed"})
    assert payload_of(missing, how=rules(enforce=enforce)) == {
        "cause": "malformed",
        "sourceRunId": "r",
        "sourceSeq": 1,
        "sourceType": "run.finished",
        "detail": payload_of(missing)["detail"],
    }
    assert payload_of(missing)["detail"].startswith("payload.durationMs: expected ")
    unsafe = event_record(payload={"n": 2**53})
    assert payload_of(unsafe, how=rules(enforce=enforce))["cause"] == "malformed"


def test_over_bound_refusals_carry_measures_only() -> None:
    """Validation: a text past its bound is over_bound with field, count and max, and nothing of the text."""
    assert payload_of(event_record(event_type="agent.warning", payload={"message": "m" * 4097})) == {
        "cause": "over_bound",
        "sourceRunId": "r",
        "sourceSeq": 1,
        "sourceType": "agent.warning",
        "field": "payload.message",
        "count": 4097,
        "max": 4096,
    }


def test_a_payload_that_is_too_large_is_over_bound() -> None:
    """Validation: the payload's bytes are measured alone and reported under the field `payload`."""
    assert payload_of(event_record(payload=["a" * 16_000] * 9)) == {
        "cause": "over_bound",
        "sourceRunId": "r",
        "sourceSeq": 1,
        "sourceType": "x.seen",
        "field": "payload",
        "count": 144_028,
        "max": 131_072,
    }


@pytest.mark.parametrize(
    ("event_type", "payload", "path"),
    [
        ("run.finished", {"outcome": "won", "durationMs": 1}, "payload.outcome"),
        ("control.requested", {"controlId": "c", "kind": "steer", "by": "u"}, "payload.text"),
    ],
)
def test_other_validation_errors_are_malformed(event_type: str, payload: dict[str, Any], path: str) -> None:
    """Validation: an unknown member or a broken policy is malformed where the source enforces."""
    told = payload_of(event_record(event_type=event_type, payload=payload))
    assert told["cause"] == "malformed"
    assert told["detail"].startswith(f"{path}: expected ")


@pytest.mark.parametrize(
    ("event_type", "payload", "kind"),
    [
        ("run.finished", {"outcome": "won", "durationMs": 1}, "UnknownMember"),
        ("control.requested", {"controlId": "c", "kind": "steer", "by": "u"}, "Policy"),
        ("agent.warning", {"message": "m" * 4097}, "OverBound"),
        ("x.seen", ["a" * 16_000] * 9, "PayloadTooLarge"),
    ],
)
def test_a_reporting_source_forwards_invalid_events(event_type: str, payload: object, kind: str) -> None:
    """Report mode: what `validate` reports is forwarded with its kind as the finding."""
    judged = judge(event_record(event_type=event_type, payload=payload), NO_RUNS, rules(enforce=False))
    assert judged.refusal is None
    assert judged.finding == kind
    assert judged.next_state == RunState(2, finished=event_type == "run.finished", source="a")


def test_a_reporting_source_still_holds_order_and_size() -> None:
    """Report mode: an invalid event out of order, or too large for the outputs, is refused all the same."""
    invalid: dict[str, Any] = {"event_type": "agent.warning", "payload": {"message": "m" * 4097}}
    assert payload_of(event_record(seq=2, **invalid), how=rules(enforce=False))["cause"] == "gap"
    small = rules(enforce=False, record_bytes_max=4000)
    judged = judge(event_record(seq=1, **invalid), NO_RUNS, small)
    assert refused(judged).draft.payload["field"] == "record"
    assert judged.finding is None


def test_nothing_follows_run_finished() -> None:
    """Closed: whatever comes after `run.finished` is refused as finished, at any seq, in both modes."""
    for seq in (1, 3, 9):
        for advance in (False, True):
            judged = judge(event_record(seq=seq), FINISHED_AT_3, rules(advance=advance))
            assert refused(judged).draft.payload == {
                "cause": "finished",
                "sourceRunId": "r",
                "sourceSeq": seq,
                "sourceType": "x.seen",
            }
            assert judged.next_state is None
            assert not judged.held


@pytest.mark.parametrize(
    ("seq", "runs", "cause"),
    [
        (2, NO_RUNS, Cause.GAP),
        (2**53 - 1, NO_RUNS, Cause.GAP),
        (4, OPEN_AT_3, Cause.GAP),
        (2, OPEN_AT_3, Cause.DUPLICATE),
        (1, OPEN_AT_3, Cause.DUPLICATE),
    ],
)
@pytest.mark.parametrize("advance", [False, True])
def test_order_is_proven(seq: int, runs: dict[str, RunState], cause: Cause, advance: bool) -> None:  # noqa: FBT001 - both modes
    """Seq: more than expected is a gap, less a duplicate; in neither mode does it move the cursor. A gap waits."""
    judged = judge(event_record(seq=seq), runs, rules(advance=advance))
    assert refused(judged).draft.payload == {
        "cause": cause.value,
        "sourceRunId": "r",
        "sourceSeq": seq,
        "sourceType": "x.seen",
    }
    assert judged.next_state is None
    assert judged.held is (cause is Cause.GAP)


def test_record_size_is_measured_exactly() -> None:
    """Size: a record as large as the outputs take is forwarded; one byte more is over_bound, with both measures."""
    value = event_bytes(payload={"text": "x" * 1000})
    for headers in (None, [("name", b"value"), ("name", None)]):
        measured = record_batch_bytes(b"r", value, headers)
        fits, too_large = rules(record_bytes_max=measured), rules(record_bytes_max=measured - 1)
        assert judge(record(value, headers=headers), NO_RUNS, fits).refusal is None
        assert payload_of(record(value, headers=headers), how=too_large) == {
            "cause": "over_bound",
            "sourceRunId": "r",
            "sourceSeq": 1,
            "sourceType": "x.seen",
            "field": "record",
            "count": measured,
            "max": measured - 1,
        }


def test_headers_are_measured_whatever_the_value() -> None:
    """Size: a small value behind large headers is too large all the same."""
    large = record(event_bytes(), headers=[("h", b"x" * 5000)])
    assert payload_of(large, how=rules(record_bytes_max=4000))["field"] == "record"


def test_a_value_that_is_safe_by_size_needs_no_measuring() -> None:
    """Size: the bound under which a record is not measured cannot let one pass that the outputs refuse."""
    how = rules(record_bytes_max=2000)
    assert how.value_bytes_safe == 936
    longest_key = "k" * (936 - len(event_bytes("")))
    value = event_bytes(longest_key)
    assert len(value) == 936
    assert record_batch_bytes(longest_key.encode(), value, None) <= 2000


@pytest.mark.parametrize("advance", [False, True])
def test_a_run_id_that_the_changelog_cannot_key_is_over_bound(advance: bool) -> None:  # noqa: FBT001 - both modes
    """The run id is the key of its state: one that the changelog does not take is refused, and leaves no state."""
    long = "r" * 5000
    judged = judge(event_record(long, 1), NO_RUNS, rules(state_bytes_max=5511, advance=advance))
    assert judged.next_state is None
    payload = payload_of(event_record(long, 1), how=rules(state_bytes_max=5511, advance=advance))
    assert (payload["cause"], payload["field"], payload["count"], payload["max"]) == (
        "over_bound",
        "record",
        5512,
        5511,
    )
    assert judge(event_record(long, 1), NO_RUNS, rules(state_bytes_max=5512)).refusal is None


def test_an_advancing_source_keeps_no_state_under_such_a_run_id() -> None:
    """Whatever else is wrong with the event, a state that could not be written is not staged."""
    long = event_record("r" * 5000, 1, payload={"text": "x" * 16_385}, event_type="agent.text")
    assert judge(long, NO_RUNS, rules(state_bytes_max=5511, advance=True)).next_state is None
    assert judge(long, NO_RUNS, rules(state_bytes_max=5512, advance=True)).next_state is not None
