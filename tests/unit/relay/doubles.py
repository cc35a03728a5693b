"""In-memory doubles of what the loop is joined from: a log to read, a log to write, a restore, a listener.

The written log keeps what a broker would keep: nothing of an aborted transaction, all of a committed one, the offsets
committed with it. A restore reads run states and the own run back from there, so that an unknown outcome can be either.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.codec import RelayRun, changelog_subject, decode_relay_run, decode_run_state
from relay.config import Config
from relay.errors import OutcomeUnknown, RelayError, TransactionAborted
from relay.judge.judge import SourceRules
from relay.loop import Loop, LoopParts
from relay.outbox import Outbox, OutboxLimits, relays_entry
from relay.own_run import OwnRun
from relay.partitions import Partition, Partitions, Phase, Restored
from relay.records import HASHED, OutgoingRecord, SourceRecord, TopicPartition
from relay.telemetry.facts import Batch
from tests.unit.relay.samples import StillClock, config_of, rules

OWN_RUN_ID = "ethogram-relay/i/1"


class MemorySource:
    """A group member that reads from a list, in the list's order; each topic-partition starts where it is told."""

    def __init__(self, records: Iterable[SourceRecord] = ()) -> None:
        self.log = list(records)
        self.limits: list[int] = []
        """How many records each fetch may give, the next one first; without any, as many as asked for."""
        self.positions: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.rewound: list[dict[TopicPartition, int]] = []
        self.generation = 1
        self.patience_s: list[float] = []
        self.while_fetching: Callable[[], None] | None = None
        """What happens from within the next fetch, as rebalances do; its records are thrown away."""

    def fetch(self, limit: int, timeout_s: float) -> list[SourceRecord]:
        """Read what is there."""
        self.patience_s.append(timeout_s)
        if self.while_fetching is not None:
            happen, self.while_fetching = self.while_fetching, None
            happen()
            return []
        most = min(limit, self.limits.pop(0)) if self.limits else limit
        taken: list[SourceRecord] = []
        for one in self.log:
            entry = TopicPartition(one.topic, one.partition)
            position = self.positions.get(entry)
            if position is not None and entry not in self.paused and one.offset >= position and len(taken) < most:
                self.positions[entry] = one.offset + 1
                taken.append(one)
        return taken

    def group_metadata(self) -> object:
        """The membership as of now."""
        return f"generation {self.generation}"

    def resume(self, offsets: dict[TopicPartition, int]) -> None:
        """Start topic-partitions at explicit offsets."""
        self.positions.update(offsets)
        self.paused -= offsets.keys()

    def rewind(self, offsets: dict[TopicPartition, int]) -> None:
        """Go back to explicit offsets."""
        self.positions.update(offsets)
        self.rewound.append(offsets)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop reading topic-partitions."""
        self.paused |= set(partitions)


@dataclass
class Transaction:
    """What one transaction wrote."""

    metadata: object = None
    forwarded: list[SourceRecord] = field(default_factory=list)
    written: list[OutgoingRecord] = field(default_factory=list)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)


class MemorySink:
    """A transactional producer whose committed transactions stay in a list."""

    def __init__(self) -> None:
        self.committed: list[Transaction] = []
        self.endings: list[RelayError | None] = []
        """How each commit ends, the next one first; None and none left are well."""
        self.doubtful_ones_hold: list[bool] = []
        """For each unknown outcome whether the transaction is committed in truth."""
        self.fail_next: dict[str, RelayError] = {}
        """Step (`begin`, `forward`, `write`, `abort`) to how its next call fails."""
        self.calls: list[str] = []
        self.commit_timeouts_s: list[float] = []
        self._open: Transaction | None = None
        self._changelog_ends: dict[int, int] = {}

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._open is not None

    def begin(self) -> None:
        """Open a transaction."""
        self._step("begin")
        assert self._open is None, "a transaction was open"
        self._open = Transaction()

    def forward(self, topic: str, records: Iterable[SourceRecord]) -> None:
        """Write source records as they are."""
        self._step("forward")
        assert topic == "u"
        self._current.forwarded += records

    def write(self, records: Iterable[OutgoingRecord], changelog: str) -> None:
        """Write records of the relay's own."""
        self._step("write")
        assert changelog == "ethogram-relay.changelog"
        self._current.written += records

    def commit(self, offsets: dict[TopicPartition, int], group_metadata: object, timeout_s: float) -> dict[int, int]:
        """End the transaction, in whatever way was asked for."""
        self.calls.append("commit")
        self.commit_timeouts_s.append(timeout_s)
        transaction = self._current
        transaction.offsets, transaction.metadata = offsets, group_metadata
        ending = self.endings.pop(0) if self.endings else None
        if ending is None or (isinstance(ending, OutcomeUnknown) and self.doubtful_ones_hold.pop(0)):
            self.committed.append(transaction)
        if ending is None or isinstance(ending, TransactionAborted):
            self._open = None
        if ending is not None:
            raise ending
        for record in transaction.written:
            if record.topic == "ethogram-relay.changelog":
                self._changelog_ends[record.partition] = self._changelog_ends.get(record.partition, 0) + 1
        return dict(self._changelog_ends)

    def abort(self) -> None:
        """Abort what is open."""
        self._step("abort")
        self._open = None

    def abandon(self) -> None:
        """Throw the client away."""
        self.calls.append("abandon")
        self._open = None

    @property
    def _current(self) -> Transaction:
        assert self._open is not None, "no transaction was open"
        return self._open

    def _step(self, name: str) -> None:
        self.calls.append(name)
        failure = self.fail_next.pop(name, None)
        if failure is not None:
            if isinstance(failure, TransactionAborted):
                self._open = None
            raise failure

    @property
    def forwarded(self) -> list[SourceRecord]:
        """Every record that was forwarded, in order."""
        return [record for transaction in self.committed for record in transaction.forwarded]

    def written_to(self, topic: str) -> list[OutgoingRecord]:
        """Every other record of a topic, in order."""
        return [record for transaction in self.committed for record in transaction.written if record.topic == topic]

    def compacted(self, topic: str) -> dict[tuple[int, bytes | None], bytes]:
        """A topic's last value by partition and key, tombstones taken out."""
        last = {(record.partition, record.key): record.value for record in self.written_to(topic)}
        return {key: value for key, value in last.items() if value is not None}

    def committed_offset(self, entry: TopicPartition) -> int | None:
        """A topic-partition's committed offset."""
        found = [transaction.offsets[entry] for transaction in self.committed if entry in transaction.offsets]
        return found[-1] if found else None


class MemoryRestore:
    """Restores run states and positions from what a sink's committed transactions say, in one step."""

    def __init__(self, sources: Sequence[str], sink: MemorySink) -> None:
        self._sources = sources
        self._sink = sink
        self.in_hand: dict[int, Partition] = {}
        self.faults: list[str] = []
        """Why the next partition may not be judged."""

    def begin(self, partitions: Iterable[Partition]) -> None:
        """Take partitions in hand."""
        self.in_hand |= {partition.number: partition for partition in partitions}

    def cancel(self, numbers: Iterable[int]) -> None:
        """Let partitions go."""
        for number in numbers:
            self.in_hand.pop(number, None)

    def step(self) -> list[Restored]:
        """Restore all that is in hand."""
        partitions, self.in_hand = list(self.in_hand.values()), {}
        return [self._restored(partition) for partition in partitions]

    def _restored(self, partition: Partition) -> Restored:
        for record in self._sink.written_to("ethogram-relay.changelog"):
            kind, name = changelog_subject(record.key)
            if record.partition == partition.number and kind == "run":
                if record.value is None:
                    partition.runs.forget([name])
                else:
                    partition.runs.load(name, decode_run_state(record.value))
        for source in self._sources:
            entry = TopicPartition(source, partition.number)
            partition.positions[source] = self._sink.committed_offset(entry)
            partition.starts[source] = 0
            partition.topic_ids[source] = f"id of {source}"
        faults, self.faults = self.faults, []
        return Restored(partition, 1.5, faults)


class Told:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.batches: list[tuple[Batch, float]] = []
        self.failures: list[tuple[str, str]] = []
        self.phases: list[tuple[int, Phase, float | None]] = []

    def committed(self, outcome: Batch, duration_s: float) -> None:
        """A transaction was committed."""
        self.batches.append((outcome, duration_s))

    def not_committed(self, outcome: str, reason: str) -> None:
        """A transaction was aborted, or its outcome is unknown."""
        self.failures.append((outcome, reason))

    def partition_changed(self, partition: Partition, duration_s: float | None) -> None:
        """A partition came to another phase."""
        self.phases.append((partition.number, partition.phase, duration_s))


class Rig:
    """A loop over doubles, its own run opened by a first transaction."""

    def __init__(
        self,
        records: Iterable[SourceRecord] = (),
        *,
        config: Config | None = None,
        how: dict[str, SourceRules] | None = None,
    ) -> None:
        config = config or config_of()
        self.clock = StillClock()
        self.source = MemorySource(records)
        self.sink = MemorySink()
        self.partitions = Partitions(config.source_topics)
        self.restore = MemoryRestore(config.source_topics, self.sink)
        self.told = Told()
        self.own_run = OwnRun("ethogram-relay", "ethogram-relay/i", "u")
        limits = OutboxLimits(1_000_000, 1_000_000)
        self.outbox = Outbox(config.topics, self.own_run, limits, self.clock)
        self.recoveries = 0
        self.before_commit: Callable[[], None] = lambda: None
        parts: dict[str, Any] = {
            "source": self.source,
            "sink": self.sink,
            "outbox": self.outbox,
            "partitions": self.partitions,
            "restorer": self.restore,
            "listener": self.told,
            "rules": how or {topic: rules(topic, own_run_prefix="ethogram-relay/") for topic in config.source_topics},
            "unified_topic": "u",
            "changelog_topic": "ethogram-relay.changelog",
            "limits": config.relay,
            "clock": self.clock,
            "recover": self._recover,
            "before_commit": self._say_own,
            "stage_proof": self._stage_proof,
        }
        self.loop = Loop(LoopParts(**parts))
        self._own_run_began_ms = self.clock.now_ms()
        self.open_own_run()
        assert self.loop.commit()
        self.told.batches.clear()
        self.sink.calls.clear()
        self.sink.commit_timeouts_s.clear()

    def open_own_run(self) -> None:
        """Stage the start of the own run."""
        self.outbox.stage_own(self.own_run.open(OWN_RUN_ID, self._own_run_began_ms))

    def assign(self, *numbers: int) -> None:
        """Assign partition numbers of both sources and restore them."""
        self.loop.assigned([TopicPartition(topic, number) for number in numbers for topic in ("a", "b")])
        self.loop.turn()

    def partition(self, number: int = 0) -> Partition:
        """A partition number that is assigned."""
        partition = self.partitions.get(number)
        assert partition is not None
        return partition

    def _say_own(self) -> None:
        self.before_commit()

    def _stage_proof(self) -> None:
        entry = relays_entry("ethogram-relay.relays", "ethogram-relay/i", self.own_run.current, self.clock.now_ms())
        self.outbox.stage_own(entry)

    def _recover(self) -> None:
        self.recoveries += 1
        assert not self.sink.in_transaction, "recovered while a client in doubt was there"
        entry = self.sink.compacted("ethogram-relay.relays").get((HASHED, b"ethogram-relay/i"))
        run: RelayRun | None = None if entry is None else decode_relay_run(entry)
        self.own_run.adopt(run)
        if run is None:
            self.open_own_run()
