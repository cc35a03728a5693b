"""The loop: when transactions begin and end, and what is current after each way of ending."""

import pytest

from ethogram import EventDraft, parse_event
from relay.errors import Fatal, Fenced, OutcomeUnknown, TransactionAborted
from relay.partitions import Phase
from relay.records import SourceRecord
from tests.unit.relay.doubles import OWN_RUN_ID, Rig
from tests.unit.relay.feed import A0, A1, B0, B1, FEED, FORWARDED, assert_feed_is_done, own_events
from tests.unit.relay.samples import NOW_MS, config_of, event_bytes, event_record, record


def test_a_batch_is_judged_and_committed() -> None:
    """What was read is judged, forwarded or refused, and committed together with its offsets and states."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    assert rig.sink.forwarded == []
    assert rig.loop.commit()
    assert_feed_is_done(rig)
    assert rig.told.batches[0][0].forwarded == {"a": 3, "b": 1}
    assert rig.told.batches[0][0].refused == {("a", "gap"): 1}


def test_the_loop_turns_until_a_stop() -> None:
    """Between two turns the rest is done, and no turn begins once a stop was asked for."""
    rig, between = Rig(FEED), list[int]()
    rig.assign(0)
    rig.loop.run(lambda: len(between) == 3, lambda: between.append(len(rig.source.patience_s)))
    assert between == [2, 3, 4]
    rig.loop.commit()
    assert_feed_is_done(rig)


def test_a_backlog_is_gathered_for_longer() -> None:
    """While fetches come back full, a transaction gathers for three intervals: each commit costs a pause."""
    rig = Rig([event_record("r", seq, offset=seq - 1) for seq in range(1, 1501)])
    rig.assign(0)
    rig.loop.turn()
    rig.clock.advance(0.25)
    rig.loop.turn()
    assert len(rig.told.batches) == 1
    assert rig.told.batches[0][0].forwarded == {"a": 1500}
    rig = Rig([event_record("r", seq, offset=seq - 1) for seq in range(1, 3001)])
    rig.assign(0)
    for _turn in range(2):
        rig.loop.turn()
        rig.clock.advance(0.14)
    assert rig.told.batches == []
    rig.clock.advance(0.1)
    rig.loop.turn()
    assert rig.told.batches[0][0].forwarded == {"a": 3000}


def test_nothing_is_current_before_the_commit() -> None:
    """States and positions of the transaction in hand are staged until it is committed."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    assert len(rig.partition().runs) == 0
    assert rig.partition().positions == {"a": None, "b": None}
    assert rig.own_run.current != rig.own_run.staged


def test_a_transaction_begins_with_its_first_record() -> None:
    """No transaction is open without a record; the membership is that of the first record, not of the commit."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.source.generation = 2
    rig.loop.commit()
    assert rig.sink.calls == ["begin", "forward", "write", "write", "commit"]
    assert rig.sink.committed[-1].metadata == "generation 1"
    rig.sink.calls.clear()
    rig.loop.turn()
    assert rig.sink.calls == []
    assert rig.loop.commit()
    assert rig.sink.calls == []


def test_a_transaction_ends_by_time() -> None:
    """A transaction is committed once its interval has passed, and a fetch waits no longer than until then."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    assert rig.source.patience_s[-1] == 0.1
    rig.clock.advance(0.04)
    rig.loop.turn()
    assert rig.source.patience_s[-1] == pytest.approx(0.06)
    assert rig.sink.forwarded == []
    rig.clock.advance(0.07)
    rig.loop.turn()
    assert rig.source.patience_s[-1] == 0
    assert_feed_is_done(rig)
    assert rig.told.batches[0][1] == pytest.approx(0.11)


def test_a_transaction_ends_by_records() -> None:
    """A transaction is committed once it holds as many records as are allowed, refused ones counting."""
    rig = Rig(FEED, config=config_of(relay={"commit_records_max": 4}))
    rig.assign(0)
    rig.source.limits = [3, 1, 1]
    rig.loop.turn()
    assert rig.told.batches == []
    rig.loop.turn()
    assert rig.told.batches[0][0].record_count == 4
    rig.loop.turn()
    assert len(rig.told.batches) == 1


def test_a_transaction_ends_by_bytes() -> None:
    """A transaction is committed once its values reach the bytes that are allowed."""
    large = [record(event_bytes("r", seq, payload={"x": "x" * 600}), offset=seq - 1) for seq in (1, 2, 3)]
    rig = Rig(large, config=config_of(relay={"commit_bytes_max": 1024}))
    rig.assign(0)
    rig.source.limits = [1, 1, 1]
    rig.loop.turn()
    assert rig.told.batches == []
    rig.loop.turn()
    assert rig.told.batches[0][0].forwarded == {"a": 2}


def test_refused_bytes_count_too() -> None:
    """What is refused is written to the quarantine, so its bytes end a transaction as forwarded ones do."""
    large = [record(event_bytes("r", seq + 1, payload={"x": "x" * 600}), offset=seq - 1) for seq in (1, 2, 3)]
    rig = Rig(large, config=config_of(relay={"commit_bytes_max": 1024}))
    rig.assign(0)
    rig.source.limits = [1, 1, 1]
    rig.loop.turn()
    rig.loop.turn()
    assert [batch.refused for batch, _duration_s in rig.told.batches] == [{("a", "gap"): 2}]


@pytest.mark.parametrize("step", ["begin", "forward", "write", "commit"])
def test_an_abort_leaves_no_trace_and_everything_is_read_again(step: str) -> None:
    """Whatever step aborts, nothing is current, all running partitions are rewound, and the repeat is the same."""
    rig = Rig([*FEED, event_record("p", 1, offset=0)._replace(partition=1)])
    rig.assign(0, 1)
    abort = TransactionAborted("why")
    if step == "commit":
        rig.sink.endings = [abort]
    else:
        rig.sink.fail_next = {step: abort}
    rig.loop.turn()
    assert rig.loop.commit() is (step != "commit")
    assert rig.told.failures == [("aborted", "why")]
    assert len(rig.partition().runs) == 0
    assert rig.own_run.staged == rig.own_run.current
    assert rig.source.rewound == [{A0: 0, B0: 0}, {A1: 0, B1: 0}]
    rig.loop.turn()
    assert rig.loop.commit()
    assert rig.sink.forwarded == [*FORWARDED, rig.source.log[-1]]
    assert own_events(rig) == [(1, "run.started"), (2, "capture.refused")]


def test_an_abort_goes_back_to_what_is_committed() -> None:
    """After a commit an abort rewinds to the offsets of that commit and not further."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.source.limits = [3]
    rig.loop.turn()
    rig.loop.commit()
    rig.sink.endings = [TransactionAborted("why")]
    rig.loop.turn()
    rig.loop.commit()
    assert rig.source.rewound == [{A0: 2, B0: 1}]
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)


@pytest.mark.parametrize("holds", [False, True])
def test_an_unknown_outcome_is_settled_before_anything_else(holds: bool) -> None:  # noqa: FBT001 - both truths
    """After an unknown outcome the client is thrown away, the truth is read back, and the partitions are restored."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.sink.endings, rig.sink.doubtful_ones_hold = [OutcomeUnknown("why")], [holds]
    rig.loop.turn()
    assert not rig.loop.commit()
    assert rig.sink.calls[-1] == "abandon"
    assert rig.told.failures == [("unknown", "why")]
    assert rig.partition().phase is Phase.RESTORING
    assert rig.source.paused == {A0, B0}
    assert rig.recoveries == 0
    assert not rig.loop.commit(), "nothing may be written while the outcome is in doubt"
    rig.loop.turn()
    assert rig.recoveries == 1
    assert rig.partition().phase is Phase.RUNNING
    assert rig.source.paused == set()
    rig.loop.turn()
    assert rig.loop.commit()
    assert_feed_is_done(rig)
    assert rig.recoveries == 1


def test_a_fence_ends_the_process() -> None:
    """A fenced or fatal end is not retried: it leaves the loop, and nothing is current."""
    for failure in (Fenced("why"), Fatal("why")):
        rig = Rig(FEED)
        rig.assign(0)
        rig.sink.endings = [failure]
        rig.loop.turn()
        with pytest.raises(type(failure), match="why"):
            rig.loop.commit()
        assert len(rig.partition().runs) == 0


def test_repeated_aborts_are_fatal_after_a_minute() -> None:
    """Transactions that fail one after another for more than 60 s end the process, with the last reason."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.sink.endings = [TransactionAborted(f"why {number}") for number in range(8)]
    for _second in range(7):
        rig.loop.turn()
        assert not rig.loop.commit()
        rig.clock.advance(10)
    rig.clock.advance(0.1)
    rig.loop.turn()
    with pytest.raises(Fatal, match=r"no transaction was committed for 60 s; the last one: why 7"):
        rig.loop.commit()


def test_a_commit_ends_a_series_of_aborts() -> None:
    """The minute counts from the first failure after a commit."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.source.limits = [5, 2, 5, 5]
    rig.sink.endings = [TransactionAborted("why"), None, TransactionAborted("why"), None]
    for wanted in (False, True, False, True):
        rig.loop.turn()
        assert rig.loop.commit() is wanted
        rig.clock.advance(50)
    assert_feed_is_done(rig)


def test_failures_far_apart_are_no_series() -> None:
    """An abort, an hour without anything to do, and another abort do not end the process."""
    rig = Rig(FEED)
    for _assignment in range(2):
        rig.assign(0)
        rig.sink.endings = [TransactionAborted("why")]
        rig.loop.turn()
        assert not rig.loop.commit()
        rig.loop.revoked([A0, B0])
        rig.clock.advance(3600)
    rig.assign(0)
    rig.loop.turn()
    assert rig.loop.commit()
    assert_feed_is_done(rig)


def test_the_own_run_speaks_before_the_seal() -> None:
    """What the own run has to say by itself is in the transaction that it is asked for."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.before_commit = lambda: rig.outbox.stage_own(rig.own_run.close("completed", "rotated", NOW_MS))
    rig.loop.turn()
    rig.loop.commit()
    assert own_events(rig) == [(1, "run.started"), (2, "capture.refused"), (3, "run.finished")]
    assert rig.sink.compacted("ethogram-relay.relays") == {}


def test_a_drain_commits_what_is_in_hand_with_the_last_words() -> None:
    """A drain ends the own run in the transaction in hand, within the budget."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    last = {"said": 0}

    def say_last() -> None:
        last["said"] += 1
        rig.outbox.stage_own(rig.own_run.close("completed", "stopped", NOW_MS))

    assert rig.loop.drain(say_last, 20.0)
    assert rig.sink.forwarded == FORWARDED
    assert own_events(rig)[-1] == (3, "run.finished")
    assert last["said"] == 1
    assert rig.sink.commit_timeouts_s == [20.0]


def test_a_drain_says_its_last_words_again_after_an_abort() -> None:
    """An aborted drain leaves what was in hand to the successor and still ends the own run."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.endings = [TransactionAborted("why")]
    closed = rig.loop.drain(lambda: rig.outbox.stage_own(rig.own_run.close("completed", "stopped", NOW_MS)), 20.0)
    assert closed
    assert rig.sink.forwarded == []
    assert own_events(rig) == [(1, "run.started"), (2, "run.finished")]
    assert rig.own_run.current is None


def test_a_drain_in_doubt_is_not_repeated() -> None:
    """A drain whose outcome is unknown says so and writes nothing more."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.endings, rig.sink.doubtful_ones_hold = [OutcomeUnknown("why")], [False]
    assert not rig.loop.drain(lambda: rig.outbox.stage_own(rig.own_run.close("completed", "stopped", NOW_MS)), 20.0)
    assert rig.sink.calls[-1] == "abandon"


def test_a_drain_without_a_budget_does_nothing() -> None:
    """A budget that is used up commits nothing."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    assert not rig.loop.drain(lambda: None, 0.0)
    assert "commit" not in rig.sink.calls


def test_records_are_judged_by_their_source() -> None:
    """Each source is judged by its own rules: a run that began in one source is foreign in the other."""
    feed: list[SourceRecord] = [event_record("r", 1, offset=0), event_record("r", 2, topic="b", offset=0)]
    rig = Rig(feed)
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert rig.sink.forwarded == feed[:1]
    refusal = parse_event(rig.sink.written_to("u")[1].value or b"")
    assert refusal.run_id == OWN_RUN_ID
    assert refusal.payload["detail"].startswith("runId: expected this run from source a")


def test_the_first_words_are_said_again_until_they_are_committed() -> None:
    """At the start an abort and an unknown outcome are both answered by taking the identity over anew."""
    rig = Rig()
    rig.sink.endings = [TransactionAborted("why"), OutcomeUnknown("why")]
    rig.sink.doubtful_ones_hold = [False]
    begun: list[int] = []

    def stage_first() -> None:
        begun.append(len(begun))
        rig.outbox.dropped()
        rig.outbox.stage_own(rig.own_run.refuse(EventDraft("agent.warning", {"message": "hello"}), NOW_MS, []))

    assert rig.loop.begin(stage_first, 60.0, lambda: False)
    assert begun == [0, 1, 2]
    assert own_events(rig)[-1] == (2, "agent.warning")


def test_a_stop_before_the_first_words_says_nothing() -> None:
    """A stop that was asked for before the own run is open leaves nothing behind."""
    rig = Rig()
    assert not rig.loop.begin(lambda: None, 60.0, lambda: True)
    assert rig.sink.calls == []
