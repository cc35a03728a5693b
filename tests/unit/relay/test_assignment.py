"""What becomes of the partitions that the group assigns: restored, judged, halted, let go."""

import pytest

from relay.errors import Fenced, OutcomeUnknown, TransactionAborted
from relay.judge.run_state import RunState
from relay.partitions import Phase
from relay.records import TopicPartition
from tests.unit.relay.doubles import Rig
from tests.unit.relay.feed import A0, A1, B0, FEED, FORWARDED, assert_feed_is_done
from tests.unit.relay.samples import NOW_MS, event_record, noise, record


def test_a_revocation_commits_what_is_in_hand() -> None:
    """A revoke settles the transaction within its own budget, then gives the partitions up."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    runs = rig.partition().runs
    rig.source.while_fetching = lambda: rig.loop.revoked([A0, B0])
    rig.loop.turn()
    assert rig.sink.forwarded == FORWARDED
    assert rig.sink.commit_timeouts_s == [5.0]
    assert rig.partitions.running == {}
    assert len(rig.partitions) == 0
    assert runs.get("r") == RunState(4, finished=False, source="a", changed_ms=NOW_MS)


def test_a_revocation_that_cannot_commit_drops() -> None:
    """A revoke whose commit aborts leaves nothing behind, and the partitions go all the same."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.endings = [TransactionAborted("why")]
    rig.loop.revoked([A0, B0])
    assert rig.sink.forwarded == []
    assert len(rig.partitions) == 0
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)


def test_a_revocation_in_doubt_drops_and_is_settled_later() -> None:
    """A revoke whose commit has an unknown outcome gives the partitions up; the next turn settles it."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.endings, rig.sink.doubtful_ones_hold = [OutcomeUnknown("why")], [True]
    rig.loop.revoked([A0, B0])
    assert len(rig.partitions) == 0
    assert rig.restore.in_hand == {}
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)
    assert rig.recoveries == 1


def test_a_loss_drops_what_is_in_hand() -> None:
    """Lost partitions are another's already: what is in hand is aborted, never committed."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.source.while_fetching = lambda: rig.loop.lost([A0, B0])
    rig.loop.turn()
    assert rig.sink.calls[-1] == "abort"
    assert rig.sink.forwarded == []
    assert len(rig.partitions) == 0
    assert rig.own_run.staged == rig.own_run.current
    assert rig.told.failures == [("aborted", "partitions were lost")]
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)


def test_a_loss_with_nothing_in_hand_proves_the_identity() -> None:
    """Without an open transaction a loss commits a record that changes nothing, and aborts nothing."""
    rig = Rig()
    rig.assign(0)
    rig.loop.lost([A0, B0])
    assert rig.sink.calls == ["begin", "write", "commit"]
    (entry,) = rig.sink.committed[-1].written
    assert (entry.topic, entry.key) == ("ethogram-relay.relays", b"ethogram-relay/i")
    assert rig.sink.committed[-1].offsets == {}
    assert rig.told.failures == []
    assert len(rig.partitions) == 0


def test_a_loss_in_doubt_is_settled_before_the_member_joins_anew() -> None:
    """A member that hears of its loss while a transaction is in doubt settles that inside the callback, and once."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.endings, rig.sink.doubtful_ones_hold = [OutcomeUnknown("why")], [False]
    assert not rig.loop.commit()
    rig.source.while_fetching = lambda: rig.loop.lost([A0, B0])
    rig.loop.turn()
    assert rig.recoveries == 1
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)


def test_a_loss_to_a_successor_ends_the_process() -> None:
    """A fenced identity can neither abort nor commit: the member must not join anew under it."""
    for feed in (FEED, []):
        rig = Rig(feed)
        rig.assign(0)
        rig.loop.turn()
        rig.sink.fail_next = {"abort": Fenced("why")}
        rig.sink.endings = [Fenced("why")]
        with pytest.raises(Fenced):
            rig.loop.lost([A0, B0])


def test_a_loss_whose_abort_is_in_doubt_is_settled() -> None:
    """An abort of unknown outcome throws the client away, and the next turn settles what is true."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.turn()
    rig.sink.fail_next = {"abort": OutcomeUnknown("why")}
    rig.loop.lost([A0, B0])
    assert rig.told.failures == [("unknown", "why")]
    assert len(rig.partitions) == 0
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)
    assert rig.recoveries == 1


def test_records_of_a_halted_partition_are_skipped() -> None:
    """Records that were on their way when a partition halted are neither judged nor counted; its position stays."""
    other = event_record("p", 1, offset=0)._replace(partition=1)
    rig = Rig([*FEED, other])
    rig.assign(0, 1)
    rig.loop.unreadable(A0, "why")
    rig.source.paused.clear()
    rig.loop.turn()
    rig.loop.commit()
    assert rig.sink.forwarded == [other]
    assert rig.partition().phase is Phase.HALTED
    assert rig.partition().halt_reason == "a: why"
    assert (rig.sink.committed_offset(A0), rig.sink.committed_offset(A1)) == (None, 1)


def test_a_halt_pauses_every_source_of_its_number() -> None:
    """A partition number that must stop is paused in all sources and told of once; a second reason changes nothing."""
    rig = Rig(FEED)
    rig.assign(0)
    rig.loop.halt(rig.partition(), "first")
    rig.loop.halt(rig.partition(), "second")
    assert rig.source.paused == {A0, B0}
    assert rig.partition().halt_reason == "first"
    assert [phase for _number, phase, _duration in rig.told.phases].count(Phase.HALTED) == 1
    rig.loop.unreadable(TopicPartition("a", 9), "not here")


def test_what_cannot_be_kept_halts_its_partition_and_nothing_is_jumped_over() -> None:
    """Records before the one that the quarantine cannot take are committed; it and those after it are not passed."""
    unkeepable = record(noise(1_100_000), offset=1)
    feed = [event_record("r", 1, offset=0), unkeepable, event_record("r", 2, offset=2)]
    rig = Rig(feed)
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    assert rig.sink.forwarded == feed[:1]
    assert rig.sink.committed_offset(A0) == 1
    assert rig.partition().phase is Phase.HALTED
    assert rig.partition().halt_reason.startswith("offset 1 of a is refused, and ethogram-relay.quarantine must take")


def test_the_first_record_may_be_the_one_that_halts() -> None:
    """With nothing staged before it, a record that halts its partition leaves no position in the transaction."""
    rig = Rig([record(noise(1_100_000), offset=0)])
    rig.assign(0)
    rig.loop.turn()
    assert rig.outbox.empty
    rig.loop.commit()
    assert rig.sink.committed_offset(A0) is None
    assert rig.partition().phase is Phase.HALTED


def test_restoring_faults_halt() -> None:
    """A partition whose restore found faults is not judged; all of them are its reason."""
    rig = Rig(FEED)
    rig.restore.faults = ["one", "two"]
    rig.assign(0)
    rig.loop.turn()
    assert rig.partition().phase is Phase.HALTED
    assert rig.partition().halt_reason == "one; two"
    assert rig.sink.calls == []


def test_an_incomplete_number_is_not_restored() -> None:
    """Until the other sources' partition comes, nothing of the number is read; then it is restored and read."""
    rig = Rig(FEED)
    rig.loop.assigned([A0])
    rig.loop.turn()
    assert rig.partition().phase is Phase.INCOMPLETE
    rig.loop.halt(rig.partition(), "not judged anyway")
    assert rig.partition().phase is Phase.INCOMPLETE
    rig.loop.assigned([B0])
    rig.loop.turn()
    rig.loop.turn()
    rig.loop.commit()
    assert_feed_is_done(rig)


def test_phases_are_told() -> None:
    """The listener hears of restoring and of running, with how long the restore took."""
    rig = Rig()
    rig.assign(0)
    assert rig.told.phases == [(0, Phase.RESTORING, None), (0, Phase.RUNNING, 1.5)]
