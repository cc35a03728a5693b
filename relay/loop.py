"""The main loop: poll, judge, stage, commit. Read this file first; `relay/DESIGN.md` has the map around it.

Nothing that a transaction would make true is current before the transaction is known to be committed. Abort,
revocation and loss drop the outbox and the staged run states together, and reading goes back to the committed offsets.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from relay.assignment import Assignment
from relay.clock import Clock
from relay.config import BACKLOG_INTERVALS, RelaySection
from relay.errors import Fatal, Interrupted, OutcomeUnknown, PartitionFault, TransactionAborted
from relay.judge.judge import SourceRules, judge
from relay.outbox import Outbox
from relay.partitions import Partition, Partitions
from relay.ports import Listener, Restore, Sink, Source
from relay.records import SourceRecord, TopicPartition

FETCH_RECORDS_MAX: Final = 1000
"""Records a turn. The client hands out 100 to 1,000 at 0.65 µs each, larger batches at more (measured)."""
_IDLE_WAIT_S: Final = 0.1
_FAILING_MAX_S: Final = 60.0
"""Transactions may fail one after another for so long before the relay gives up; a rebalance takes far less."""


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What the loop is joined from."""

    source: Source
    sink: Sink
    outbox: Outbox
    partitions: Partitions
    restorer: Restore
    listener: Listener
    rules: Mapping[str, SourceRules]
    unified_topic: str
    changelog_topic: str
    limits: RelaySection
    clock: Clock
    recover: Callable[[], None]
    """Makes the producer anew and reads back what is true of the own run."""
    before_commit: Callable[[], None]
    """Stages what the own run has to say by itself."""
    stage_proof: Callable[[], None]
    """Stages a record that changes nothing: committing it proves that the identity is ours."""


class Loop:
    """Moves records from the sources to the outputs; settles what is in hand when the group takes partitions away."""

    def __init__(self, parts: LoopParts) -> None:
        self._parts = parts
        self._assignment = Assignment(parts.source, parts.partitions, parts.restorer, parts.listener, parts.clock)
        self._metadata: object = None
        self._opened_s = 0.0
        self._failing_since_s: float | None = None
        self._backlog = False
        """Whether the last fetch brought all it could: more is waiting."""
        self._in_doubt = False
        """Whether a transaction's outcome is unknown: nothing is written or restored before that is settled."""

    def run(self, stopping: Callable[[], bool], between_turns: Callable[[], None]) -> None:
        """Turn until a stop is asked for.

        Args:
            stopping: Whether it is.
            between_turns: What else is to be done now and then.

        Raises:
            Fenced: A successor has this identity.
            Fatal: The relay cannot go on.
        """
        with contextlib.suppress(Interrupted):  # a stop that was asked for while a turn waited for the cluster
            while not stopping():
                self.turn()
                between_turns()

    def turn(self) -> None:
        """Poll, judge, stage, and commit when it is time.

        Raises:
            Fenced: A successor has this identity.
            Fatal: The relay cannot go on.
        """
        if self._in_doubt:
            # Nothing is being read now. A member that was replaced meanwhile hears of it here, and must not take the
            # identity back from its successor.
            self._parts.source.fetch(1, 0.0)
            self._settle_doubt()
        records = self._parts.source.fetch(FETCH_RECORDS_MAX, self._patience_s())
        self._backlog = len(records) == FETCH_RECORDS_MAX
        if records:
            self._judge(records)
        if self._due():
            self.commit()
        if not self._in_doubt:
            self._assignment.restore()

    def commit(self, timeout_s: float | None = None) -> bool:
        """End the transaction in hand, whatever way it ends.

        Args:
            timeout_s: The bound, seconds; the configured one by default.

        Returns:
            Whether everything staged is committed now.

        Raises:
            Fenced, Fatal: The process must end.
        """
        if self._in_doubt:
            return False
        if self._parts.outbox.empty and not self._parts.sink.in_transaction:
            return True
        try:
            self._commit(timeout_s or self._parts.limits.transaction_call_timeout / 1000)
        except (TransactionAborted, OutcomeUnknown) as error:
            self._not_committed(error)
            return False
        self._failing_since_s = None
        return True

    def begin(self, stage_first: Callable[[], None], budget_s: float, stopping: Callable[[], bool]) -> bool:
        """Commit the first words of the own run, before the first turn.

        Args:
            stage_first: Takes the identity over, settling whatever it left open or in doubt, and stages them; called
                again where their transaction was not committed.
            budget_s: The bound of the whole, seconds.
            stopping: Whether a stop was asked for.

        Returns:
            Whether the first words are committed.
        """
        deadline_s = self._parts.clock.monotonic_s() + budget_s
        while not stopping() and self._parts.clock.monotonic_s() < deadline_s:
            try:
                stage_first()
            except Interrupted:
                return False
            self._in_doubt = False
            if self.commit():
                return True
        return False

    def drain(self, stage_last: Callable[[], None], budget_s: float) -> bool:
        """Commit what is in hand together with the last words of the own run; the loop is not to be turned again.

        Args:
            stage_last: Stages them; called again where a transaction was aborted, what was in hand then being left to
                the successor.
            budget_s: The bound of the whole, seconds.

        Returns:
            Whether the last words are committed.
        """
        deadline_s = self._parts.clock.monotonic_s() + budget_s
        while not self._in_doubt and (left_s := deadline_s - self._parts.clock.monotonic_s()) > 0:
            stage_last()
            if self.commit(left_s):
                return True
        return False

    def _commit(self, timeout_s: float) -> None:
        """The commit, in numbered steps; `relay/DESIGN.md` says what breaks if their order is changed.

        1. The own run says what it has to say by itself, and the outbox seals: the last state of every touched run,
           then the position of every source partition, then the own run's entry.
        2. All of it is handed to the client.
        3. The source offsets join the transaction, fenced by the metadata that the batch's first record came under.
        4. The transaction commits; the client flushes first.
        5. Only now is what was staged current, and counted.
        """
        parts = self._parts
        if not parts.sink.in_transaction:
            self._open()
        parts.before_commit()
        parts.outbox.seal()
        parts.sink.write(parts.outbox.take_records(), parts.changelog_topic)
        changelog_ends = parts.sink.commit(parts.outbox.next_offsets, self._metadata, timeout_s)
        outcome = parts.outbox.committed(changelog_ends)
        parts.listener.committed(outcome, parts.clock.monotonic_s() - self._opened_s)

    def _open(self) -> None:
        """Open a transaction under the membership as of now."""
        self._metadata = self._parts.source.group_metadata()
        self._opened_s = self._parts.clock.monotonic_s()
        self._parts.sink.begin()

    def _judge(self, records: list[SourceRecord]) -> None:
        """Judge records and hand what they lead to to the client, in a transaction that is opened if need be."""
        parts = self._parts
        try:
            if not parts.sink.in_transaction:
                self._open()
            for (topic, number), group in groupby(records, key=itemgetter(0, 1)):
                partition = parts.partitions.running.get(number)
                if partition is not None:  # else halted while these were on their way; its position stays
                    self._judge_partition(group, partition, parts.rules[topic])
            forwards = parts.outbox.take_forwards()
            parts.sink.forward(parts.unified_topic, forwards)
            parts.sink.write(parts.outbox.take_records(), parts.changelog_topic)
        except (TransactionAborted, OutcomeUnknown) as error:
            self._not_committed(error)

    def _judge_partition(self, records: Iterable[SourceRecord], partition: Partition, rules: SourceRules) -> None:
        """Judge records of one topic-partition, in order, up to one that must not be passed."""
        stage, runs = self._parts.outbox.stage, partition.runs
        last = None
        try:
            for record in records:
                stage(record, judge(record, runs, rules), runs)
                last = record
        except PartitionFault as fault:
            self._assignment.halt(partition, fault.reason)
        if last is not None:
            self._parts.outbox.stage_position(last, partition)

    def _due(self) -> bool:
        """Whether the transaction in hand has gathered for long enough, or enough."""
        if not self._parts.sink.in_transaction:
            return False
        limits = self._parts.limits
        return (
            self._patience_s() <= 0
            or self._parts.outbox.batch.record_count >= limits.commit_records_max
            or self._parts.outbox.batch.bytes_count >= limits.commit_bytes_max
        )

    def _patience_s(self) -> float:
        """How long a fetch may wait: until the transaction in hand is due, or a moment."""
        if not self._parts.sink.in_transaction:
            return _IDLE_WAIT_S
        intervals = BACKLOG_INTERVALS if self._backlog else 1
        due_s = self._opened_s + intervals * self._parts.limits.commit_interval_ms / 1000
        return max(0.0, min(_IDLE_WAIT_S, due_s - self._parts.clock.monotonic_s()))

    def _not_committed(self, error: TransactionAborted | OutcomeUnknown) -> None:
        """Drop what was staged and go back to what is committed; after an unknown outcome, the next turn asks what is.

        Committed offsets and run states may then be either the old or the new ones, so that both are restored.
        """
        now_s = self._parts.clock.monotonic_s()
        self._failing_since_s = self._failing_since_s if self._failing_since_s is not None else now_s
        self._in_doubt = isinstance(error, OutcomeUnknown)
        self._parts.listener.not_committed("unknown" if self._in_doubt else "aborted", str(error))
        self._parts.outbox.dropped()
        if now_s - self._failing_since_s > _FAILING_MAX_S:
            raise Fatal(f"no transaction was committed for {_FAILING_MAX_S:g} s; the last one: {error}")
        if self._in_doubt:
            self._parts.sink.abandon()
            self._assignment.restore_again()
        else:
            self._assignment.rewind()

    def _settle_doubt(self) -> None:
        """Find out what became of the transaction in doubt, unless that was done meanwhile."""
        if self._in_doubt:
            self._parts.recover()
            self._in_doubt = False

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """The group gave us partitions: restore them first."""
        self._assignment.take(partitions)

    def revoked(self, partitions: list[TopicPartition]) -> None:
        """The group takes partitions back: settle what is in hand, within the revocation's budget, then let go."""
        self.commit(self._parts.limits.revoke_timeout / 1000)
        self._let_go(partitions)

    def lost(self, partitions: list[TopicPartition]) -> None:
        """The partitions are another's already: what is in hand must not be committed.

        Before the member joins anew, the identity must be proven still ours: joining under the instance id would put
        a successor out of the group. Aborting proves it as well as committing; a fenced producer can do neither. In
        doubt, settling the doubt proves it.
        """
        self._let_go(partitions)
        if self._in_doubt:
            self._settle_doubt()
            return
        if not self._parts.sink.in_transaction:
            self._parts.stage_proof()
            self.commit(self._parts.limits.revoke_timeout / 1000)
            return
        try:
            self._parts.sink.abort()
        except OutcomeUnknown as error:
            self._not_committed(error)
        else:
            self._not_committed(TransactionAborted("partitions were lost"))

    def unreadable(self, entry: TopicPartition, reason: str) -> None:
        """The group member cannot read a topic-partition on without jumping over something."""
        partition = self._parts.partitions.running.get(entry.partition)
        if partition is not None:  # else it is not being read: what was asked for before is of no account
            self.halt(partition, f"{entry.topic}: {reason}")

    def halt(self, partition: Partition, reason: str) -> None:
        """Stop one partition number loudly."""
        self._assignment.halt(partition, reason)

    def _let_go(self, partitions: list[TopicPartition]) -> None:
        self._failing_since_s = None  # what comes next is another assignment: its failures are another series
        self._assignment.let_go(partitions)
