"""Proofs and audits of gaplessness."""

import pytest

import ethogram
from ethogram import Event, EventDraft, FoldError, RunClosedError, SequenceError
from ethogram.audit import AfterFinish, Hole, LateArrival, RefusedTail, Repeat, SeenRefusal, SeqRange
from ethogram.gapless import Auditor, audit_runs
from relay.judge.judge import judge
from relay.judge.run_state import RunState
from tests.unit.ethogram.samples import MINIMAL
from tests.unit.relay.samples import event_record, rules


def event(seq: int, run_id: str = "r", event_type: str = "x.y", **fields: object) -> Event:
    """An event at a place of a run."""
    return Event(event_type, run_id, seq, "t", MINIMAL.get(event_type, {}) | fields)


def refusal(seq: int, source_seq: int | None, cause: str = "over_bound", source: str = "r") -> Event:
    """A refusal on the relay's run."""
    fields = {} if source_seq is None else {"sourceSeq": source_seq}
    return event(seq, "relay", "capture.refused", cause=cause, sourceRunId=source, **fields)


START, FINISH = event(1, event_type="run.started"), event(3, event_type="run.finished")


def test_gapless_runs_are_proved() -> None:
    """Runs may interleave; each goes 1, 2, 3 and ends at its finish."""
    events = [START, START._replace(run_id="q"), event(2), FINISH]
    assert ethogram.prove_gapless(events) == {"r": 3, "q": 1}
    audit = audit_runs(events)
    assert audit.is_gapless
    assert audit.is_explained
    assert audit.last_seqs == {"r": 3, "q": 1}
    assert (audit.runs["r"].is_finished, audit.runs["q"].is_finished) == (True, False)
    assert (audit.holes, audit.repeats, audit.late, audit.after_finish, audit.tails) == ((), (), (), (), ())


@pytest.mark.parametrize("events", [[event(2)], [START, START], [START, FINISH]])
def test_a_proof_stops_at_a_gap_or_a_repeat(events: list[Event]) -> None:
    """What is not the next event of its run is an error with both numbers."""
    with pytest.raises(SequenceError):
        ethogram.prove_gapless(events)
    assert not audit_runs(events).is_gapless


def test_a_proof_stops_beyond_a_finish() -> None:
    """Nothing follows a finish."""
    events = [START, event(2), FINISH, event(4)]
    with pytest.raises(RunClosedError):
        ethogram.prove_gapless(events)
    audit = audit_runs(events)
    assert audit.after_finish == (AfterFinish("r", 3, 4),)
    assert audit.last_seqs == {"r": 3}
    assert not audit.is_gapless


@pytest.mark.parametrize("refusals_first", [True, False])
def test_each_hole_is_reported_with_what_explains_it(*, refusals_first: bool) -> None:
    """Number by number: refused ones with cause and place of the refusal, the rest as ranges; order is no matter."""
    refusals = [refusal(1, 7, "malformed"), refusal(2, 4), refusal(3, 99), refusal(4, 4, "odd")]
    events = [event(1), event(2), event(9)]
    audit = audit_runs([*refusals, *events] if refusals_first else [*events, *refusals])
    found = (
        SeenRefusal("over_bound", "relay", 2, "r", 4),
        SeenRefusal("odd", "relay", 4, "r", 4),
        SeenRefusal("malformed", "relay", 1, "r", 7),
    )
    assert audit.holes == (Hole("r", 3, 8, found, (SeqRange(3, 3), SeqRange(5, 6), SeqRange(8, 8))),)
    assert (audit.is_gapless, audit.is_explained) == (False, False)
    assert audit.holes[0].missing_count == 6
    assert audit.tails == (RefusedTail("r", 9, (SeenRefusal("over_bound", "relay", 3, "r", 99),)),)


def test_a_hole_is_explained_once_every_number_is() -> None:
    """Explained is not gapless; a refusal of a number that did come explains nothing."""
    audit = audit_runs([event(1), event(4), refusal(1, 2), refusal(2, 3, "gap"), refusal(3, 1, "duplicate")])
    (hole,) = audit.holes
    assert hole.is_explained
    assert [one.source_seq for one in hole.refusals] == [2, 3]
    assert (audit.is_gapless, audit.is_explained, audit.tails) == (False, True, ())


def test_a_refusal_without_a_number_is_a_possible_explanation() -> None:
    """It may explain a number in any hole of its run, or beyond the end, and makes nothing explained."""
    unplaced = refusal(1, None, "malformed")
    seen = SeenRefusal("malformed", "relay", 1, "r")
    audit = audit_runs([event(1), event(3), event(5), unplaced])
    assert [hole.possible_refusals for hole in audit.holes] == [(seen,), (seen,)]
    assert audit.tails == (RefusedTail("r", 5, (), (seen,)),)
    assert not audit.is_explained
    zero = unplaced._replace(payload=unplaced.payload | {"sourceSeq": 0})
    assert audit_runs([event(1), zero]).tails == (RefusedTail("r", 1, (), (seen,)),), "0 is no seq"


def test_a_hole_of_a_million_is_one_hole() -> None:
    """What is held goes by the holes, not by how many numbers are missing."""
    last = ethogram.MAX_SAFE_INTEGER
    (hole,) = audit_runs([event(1), event(last)]).holes
    assert hole.unexplained == (SeqRange(2, last - 1),)
    assert hole.missing_count == last - 2


def test_repeats_and_late_arrivals_are_told_apart() -> None:
    """A number that came before is a repeat; one that was missing is late, and its hole parts, shrinks or goes."""
    audit = audit_runs([event(1), event(6), event(4), event(6), event(4), event(2), refusal(1, 6, "duplicate")])
    assert audit.late == (LateArrival("r", 7, 4), LateArrival("r", 7, 2))
    seen = SeenRefusal("duplicate", "relay", 1, "r", 6)
    assert audit.repeats == (Repeat("r", 7, 6, (seen,)), Repeat("r", 7, 4))
    assert [(hole.first_seq, hole.last_seq) for hole in audit.holes] == [(3, 3), (5, 5)]
    complete = audit_runs([event(1), event(3), event(2)])
    assert complete.holes == ()
    assert complete.is_explained
    assert not complete.is_gapless, "a reader who went by the order was misled"


def test_a_stream_that_is_read_twice_is_all_repeats() -> None:
    """What came before its finish comes again as a repeat, not as something beyond the finish."""
    audit = audit_runs([START, event(2), FINISH] * 2)
    assert [one.received for one in audit.repeats] == [1, 2, 3]
    assert audit.after_finish == ()


def test_a_refusal_that_is_read_twice_is_listed_once() -> None:
    """The same refusal again is no second explanation, in a hole or beyond the end."""
    once, twice = ([event(1), event(3), *[refusal(1, 2), refusal(2, 9)] * times] for times in (1, 2))
    assert audit_runs(twice).holes == audit_runs(once).holes
    assert audit_runs(twice).tails == audit_runs(once).tails


def test_a_reader_may_say_where_it_began() -> None:
    """A run that begins above 1 has a hole, unless the reader says that it joined there."""
    events = [event(7), event(8)]
    assert audit_runs(events).holes == (Hole("r", 1, 6, (), (SeqRange(1, 6),)),)
    audit = audit_runs(events, from_seqs={"r": 7})
    assert audit.is_gapless
    assert audit.runs["r"].begin_seq == 7
    assert audit_runs(events, from_seqs={"r": 5}).holes == (Hole("r", 5, 6, (), (SeqRange(5, 6),)),)
    assert audit_runs(events, from_seqs={"r": 8}).repeats == (Repeat("r", 8, 7),)
    for bad in (0, True, 1.0, -1):
        with pytest.raises(ValueError, match="from_seqs"):
            audit_runs([], from_seqs={"r": bad})  # type: ignore[dict-item]  # what is no seq is what is tested


def test_refusals_name_a_long_run_by_its_first_scalars() -> None:
    """The source's id is excerpted in a refusal, so ids are compared by their first 4,096 scalars."""
    long_id = "é" * 5_000
    audit = audit_runs([event(1, long_id), event(3, long_id), refusal(1, 2, source=long_id[:4_096])])
    assert audit.is_explained
    assert audit.unseen == ()


def test_a_run_that_was_refused_whole_is_named() -> None:
    """None of its events was seen, so all there is of it are its refusals."""
    audit = audit_runs([refusal(1, 1, source="gone"), refusal(2, 2, "gap", source="gone")], from_seqs={"gone": 2})
    assert [(tail.run_id, tail.last_seq, len(tail.refusals)) for tail in audit.unseen] == [("gone", 1, 1)]
    assert audit.tails == audit.unseen
    assert audit.is_gapless


def test_a_refusal_that_is_not_representable_changes_nothing() -> None:
    """An event made by hand that no wire could carry raises, and the auditor goes on without it."""
    auditor = Auditor()
    auditor.add(event(1))
    with pytest.raises(FoldError):
        auditor.add(Event("capture.refused", "relay", 1, "t", {"cause": "gap"}))
    assert auditor.audit() == audit_runs([event(1)])


def test_an_audit_stands_while_the_auditor_goes_on() -> None:
    """What is missing now may be explained later, in a new report."""
    auditor = Auditor()
    for one in (event(1), event(3)):
        auditor.add(one)
    before = auditor.audit()
    auditor.add(refusal(1, 2))
    assert not before.is_explained
    assert auditor.audit().is_explained


def test_the_report_names_runs_and_numbers_alone() -> None:
    """Plain text, a line for each finding; ids that are not printable are escaped, foreign causes are not repeated."""
    events = [
        event(1, "bad\n\u202eid"),
        event(9, "bad\n\u202eid"),
        event(8, "bad\n\u202eid"),
        event(9, "bad\n\u202eid"),
        refusal(1, 2, source="bad\n\u202eid"),
        refusal(2, 3, "a cause that says\nsomething", source="bad\n\u202eid"),
        refusal(3, None, "malformed", source="bad\n\u202eid"),
        event(1, event_type="run.finished"),
        event(2),
        refusal(4, 5, "finished"),
    ]
    assert audit_runs(events).render() == (
        "runs: 3, of which 1 finished\n"
        "missing: 6 in 1 holes, of which 4 unexplained\n"
        "repeated: 1, late: 1, beyond a finish: 1\n"
        "bad\\n\\u202eid: 2 to 7 missing\n"
        "  2 refused by relay at 1: over_bound\n"
        "  3 refused by relay at 2: an unfamiliar cause\n"
        "  4 to 7 unexplained\n"
        "  perhaps refused by relay at 3: malformed\n"
        "bad\\n\\u202eid: 9 again, expected 10\n"
        "bad\\n\\u202eid: 8 late, expected 10\n"
        "r: 2 beyond the finish at 1\n"
        "bad\\n\\u202eid: refused beyond 9\n"
        "  perhaps refused by relay at 3: malformed\n"
        "r: refused beyond 1\n"
        "  5 refused by relay at 4: finished\n"
    )


def relayed(*, advance: bool) -> list[Event]:
    """What a relay makes of a run whose third event is over its bound: what it forwards, then its refusals."""
    runs: dict[str, RunState] = {}
    forwarded: list[Event] = []
    refused: list[EventDraft] = []
    for seq in range(1, 6):
        text = "x" * 20_000 if seq == 3 else "fits"
        record = event_record(seq=seq, event_type="agent.text", payload={"text": text})
        judgement = judge(record, runs, rules(advance=advance))
        if judgement.next_state is not None:
            runs["r"] = judgement.next_state
        if judgement.refusal is None:
            forwarded.append(event(seq, event_type="agent.text"))
        else:
            refused.append(judgement.refusal.draft)
    return [
        *forwarded,
        *(ethogram.stamp(one, run_id="relay", seq=seq, ts="t") for seq, one in enumerate(refused, start=1)),
    ]


def test_a_relay_that_advances_leaves_a_hole_that_its_refusal_explains() -> None:
    """The refused event took its number, so the run goes on behind a hole."""
    audit = audit_runs(relayed(advance=True))
    assert audit.holes == (Hole("r", 3, 3, (SeenRefusal("over_bound", "relay", 1, "r", 3),)),)
    assert (audit.is_gapless, audit.is_explained, audit.tails) == (False, True, ())


def test_a_relay_that_holds_leaves_no_hole() -> None:
    """The run waits at the refused event: everything from there on is a refused tail."""
    audit = audit_runs(relayed(advance=False))
    assert audit.is_gapless
    (tail,) = audit.tails
    assert (tail.run_id, tail.last_seq) == ("r", 2)
    assert [(one.source_seq, one.cause) for one in tail.refusals] == [(3, "over_bound"), (4, "gap"), (5, "gap")]
