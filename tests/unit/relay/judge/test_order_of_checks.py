"""The judge: the order of its checks, what a refusal moves, and what it says of a record."""

import hashlib

import pytest

from relay.judge.judge import judge
from relay.judge.run_state import RunState
from relay.judge.verdict import Cause
from relay.records import SourceRecord
from tests.unit.relay.judge.told import NO_RUNS, OPEN_AT_3, payload_of, refused
from tests.unit.relay.samples import event_bytes, event_record, record, rules

SECRET = "hunter2-Ω"  # noqa: S105 - content that must never leave the quarantine
LADDER: list[tuple[str, str, str]] = [
    ("value", "malformed", "value: expected an event, got a tombstone"),
    ("envelope", "malformed", "extra: expected one of"),
    ("key", "malformed", "key: expected the record key"),
    ("owner", "malformed", "runId: expected this run from source b"),
    ("payload", "malformed", "payload.message: expected"),
    ("validation", "over_bound", "payload.x"),
    ("closed", "finished", ""),
    ("seq", "gap", ""),
    ("size", "over_bound", "record"),
]


@pytest.mark.parametrize(("name", "cause", "told"), LADDER)
def test_the_first_check_that_fails_names_the_cause(name: str, cause: str, told: str) -> None:
    """Order: value, envelope, key, owner, payload, validation, closed, seq, size; whatever else is wrong as well."""
    names = [rung for rung, _cause, _told in LADDER]
    broken = dict.fromkeys(names[names.index(name) :], True)
    payload = {
        "message": 5 if broken.get("payload") else "m",
        "x": "x" * 16_385 if broken.get("validation") else "y" * 200,
    }
    members = {"extra": 1} if broken.get("envelope") else {}
    seq = 9 if broken.get("seq") else 3
    value = None if broken.get("value") else event_bytes("r", seq, "agent.warning", payload, **members)
    state = RunState(3, finished=bool(broken.get("closed")), source="b" if broken.get("owner") else "a")
    key = b"other" if broken.get("key") else b"r"
    payload_told = payload_of(record(value, key), {"r": state}, rules(record_bytes_max=200))
    assert payload_told["cause"] == cause
    assert payload_told.get("detail", payload_told.get("field", "")).startswith(told)


def test_a_record_without_faults_passes_every_check() -> None:
    """Order: the record of the ladder with nothing broken is forwarded."""
    value = event_bytes("r", 3, "agent.warning", {"message": "m", "x": "y" * 200})
    assert judge(record(value), OPEN_AT_3, rules()).refusal is None


REFUSED_CONTENT = event_record(seq=3, event_type="agent.warning", payload={"message": "m" * 4097})
REFUSED_FINISH = event_record(seq=3, event_type="run.finished", payload={"outcome": "won", "durationMs": 1})


def test_hold_keeps_the_cursor_at_a_refused_event() -> None:
    """Hold: the refused event that was expected moves nothing, and its run waits for it."""
    judged = judge(REFUSED_CONTENT, OPEN_AT_3, rules())
    assert judged.next_state is None
    assert judged.held


def test_advance_lets_the_refused_event_take_its_number() -> None:
    """Advance: the refused event that was expected is passed over, and its run does not wait."""
    judged = judge(REFUSED_CONTENT, OPEN_AT_3, rules(advance=True))
    assert judged.next_state == RunState(4, finished=False, source="a")
    assert not judged.held


def test_a_refused_run_finished_closes_nothing() -> None:
    """A refused `run.finished` leaves the run open: untouched in hold, passed over in advance."""
    assert judge(REFUSED_FINISH, OPEN_AT_3, rules()).next_state is None
    assert judge(REFUSED_FINISH, OPEN_AT_3, rules(advance=True)).next_state == RunState(4, finished=False, source="a")


def test_hold_gives_a_refused_first_event_no_state() -> None:
    """Hold: a run whose first event is refused has neither state nor owner."""
    first = event_record(seq=1, event_type="agent.warning", payload={"message": "m" * 4097})
    judged = judge(first, NO_RUNS, rules())
    assert judged.next_state is None
    assert judged.held


def test_advance_gives_a_consuming_first_event_a_state() -> None:
    """Advance: a refused first event opens its run at 2 and makes its source the owner."""
    first = event_record(seq=1, event_type="agent.warning", payload={"message": "m" * 4097}, topic="b")
    assert judge(first, NO_RUNS, rules("b", advance=True)).next_state == RunState(2, finished=False, source="b")


def test_advance_consumes_only_the_expected_seq() -> None:
    """Advance: an over-bound event with another seq than the expected one moves nothing."""
    for seq in (1, 2, 4):
        late = event_record(seq=seq, event_type="agent.warning", payload={"message": "m" * 4097})
        judged = judge(late, OPEN_AT_3, rules(advance=True))
        assert refused(judged).cause is Cause.OVER_BOUND
        assert judged.next_state is None


def test_advance_consumes_a_record_that_is_too_large() -> None:
    """Advance: a record past the outputs' size passed every other check, so it takes its number."""
    judged = judge(event_record(seq=3), OPEN_AT_3, rules(advance=True, record_bytes_max=100))
    assert refused(judged).draft.payload["field"] == "record"
    assert judged.next_state == RunState(4, finished=False, source="a")


@pytest.mark.parametrize("advance", [False, True])
@pytest.mark.parametrize(
    "source",
    [
        record(None),
        record(b"{"),
        record(event_bytes(seq=3), b"other"),
        record(event_bytes(seq=3), None),
        record(event_bytes(seq=3, extra=1)),
        event_record("relay/x/1"),
    ],
)
def test_what_failed_before_the_owner_consumes_nothing(source: SourceRecord, advance: bool) -> None:  # noqa: FBT001 - both modes
    """In both modes a record that failed value, envelope, key or owner moves no run."""
    assert judge(source, OPEN_AT_3, rules(advance=advance)).next_state is None


def test_an_unreadable_record_is_named_by_what_can_be_read() -> None:
    """The source of an unreadable record is the envelope's run id, else the key, else its coordinates."""
    readable = record(event_bytes("r", extra=1), b"key")
    assert payload_of(readable)["sourceRunId"] == "r"
    assert payload_of(readable)["sourceSeq"] == 1
    assert payload_of(readable)["sourceType"] == "x.seen"
    assert payload_of(record(b"{", b"key"))["sourceRunId"] == "key"
    assert payload_of(record(event_bytes(runId=5), b"key"))["sourceRunId"] == "key"
    twice = event_bytes().replace(b'"seq"', b'"runId":"q","seq"')
    assert payload_of(record(twice, b"key"))["sourceRunId"] == "key"
    assert payload_of(record(b"{", b"\xff"))["sourceRunId"] == "unattributed:a:0:7"
    assert payload_of(record(b"{", None))["sourceRunId"] == "unattributed:a:0:7"


def test_a_run_id_that_is_cut_is_identified_by_its_hash() -> None:
    """A run id past 4,096 scalars is excerpted in the draft; the refusal keeps it whole and gives its SHA-256."""
    long = "😀" * 4097
    told = refused(judge(event_record(long, seq=2), NO_RUNS, rules()))
    assert told.draft.payload["sourceRunId"] == "😀" * 4096
    assert told.source_run_id == long
    assert told.source_run_id_cut
    assert told.source_run_sha256() == hashlib.sha256(long.encode()).hexdigest()
    fits = refused(judge(event_record("😀" * 4096, seq=2), NO_RUNS, rules()))
    assert fits.draft.payload["sourceRunId"] == "😀" * 4096
    assert not fits.source_run_id_cut


def test_a_type_that_is_too_long_is_cut() -> None:
    """`sourceType` is excerpted to 4,096 scalars, so that every refusal is valid."""
    assert payload_of(event_record(seq=2, event_type="t" * 4097))["sourceType"] == "t" * 4096


@pytest.mark.parametrize(
    "source",
    [
        record(SECRET.encode()),
        record(event_bytes(ts={"k": SECRET})),
        record(event_bytes(v=SECRET)),
        record(event_bytes(capturedAt=[SECRET])),
        record(event_bytes(extra=SECRET)),
        record(event_bytes().replace(b'"seq":1', f'"seq":"{SECRET}"'.encode())),
        record(event_bytes(), SECRET.encode()),
        event_record(event_type="agent.text", payload={"text": [SECRET]}),
        event_record(event_type="agent.text", payload={"text": SECRET * 4000}),
        event_record(event_type="run.finished", payload={"outcome": SECRET, "durationMs": 1}),
        event_record(event_type="run.finished", payload={"outcome": "completed", "durationMs": SECRET}),
        event_record(payload={"n": [SECRET, 2**53]}),
        event_record(seq=9, payload={"n": SECRET}),
        record(event_bytes(payload=[SECRET]) + SECRET.encode()),
        record(event_bytes(payload=[SECRET])[:-4]),
    ],
)
def test_no_content_reaches_a_refusal(source: SourceRecord) -> None:
    """No refusal holds content of the event: only names, sizes and positions."""
    told = payload_of(source)
    assert {name: value for name, value in told.items() if SECRET in str(value)} == {}
