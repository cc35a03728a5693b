"""Everything that one transaction will write, as plain ordered data, and what it would make true.

The outbox stages; it sends nothing. What it stages becomes current only by `committed`, and is gone without a trace
by `dropped`.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Final

from ethogram import MAX_EXCERPT_SCALARS, excerpt
from relay.clock import Clock
from relay.codec import (
    Quarantined,
    RelayRun,
    SourcePosition,
    encode_quarantined,
    encode_relay_run,
    encode_run_state,
    encode_source_position,
    run_key,
    source_key,
)
from relay.config import Topics
from relay.errors import PartitionFault
from relay.judge.verdict import Judgement, Refusal
from relay.own_run import OwnRun
from relay.partitions import Partition
from relay.records import HASHED, Header, OutgoingRecord, SourceRecord, TopicPartition, record_batch_bytes
from relay.run_store import PartitionRuns
from relay.telemetry.facts import Batch

QUARANTINE_ENVELOPE_BYTES_MAX: Final = 65_536
"""What the quarantine's envelope adds to a record at most."""
QUARANTINE_KEY_BYTES_MAX: Final = 4_096
"""Longer keys are replaced by their digest as the quarantine record's own key."""


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    """What the outputs take, as batches of one record, in bytes."""

    quarantine_record_bytes_max: int
    unified_record_bytes_max: int


@dataclass(slots=True)
class _Staged:
    """The contents of one transaction so far."""

    next_offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    partitions: dict[int, Partition] = field(default_factory=dict)
    forgotten: dict[int, list[str]] = field(default_factory=dict)
    batch: Batch = field(default_factory=Batch)


class Outbox:
    """Stages one transaction at a time.

    Attributes:
        forwards: Source records to forward as they are, not yet handed to the client.
        records: Other records to write, in order, not yet handed to the client.
    """

    def __init__(self, topics: Topics, own_run: OwnRun, limits: OutboxLimits, clock: Clock) -> None:
        self.forwards: list[SourceRecord] = []
        self.records: list[OutgoingRecord] = []
        self._topics = topics
        self._own_run = own_run
        self._limits = limits
        self._clock = clock
        self._staged = _Staged()

    @property
    def next_offsets(self) -> dict[TopicPartition, int]:
        """The source offsets that the transaction commits."""
        return {TopicPartition(*entry): offset for entry, offset in self._staged.next_offsets.items()}

    @property
    def batch(self) -> Batch:
        """What the transaction would count once it is committed."""
        return self._staged.batch

    @property
    def empty(self) -> bool:
        """Whether there is nothing that a transaction would write."""
        return not (self._staged.next_offsets or self.records or self._staged.forgotten or self._own_run.touched)

    def stage(self, record: SourceRecord, judgement: Judgement, runs: PartitionRuns) -> None:
        """Take in one judged record; `stage_position` must follow for the last one of its topic-partition.

        Args:
            record: The record.
            judgement: Its verdict.
            runs: The run states of its partition.

        Raises:
            PartitionFault: The record is refused and the quarantine cannot take it, so that its bytes would be lost;
                nothing was staged.
        """
        refusal, run_id, state, finding, held = judgement
        if refusal is None:
            self.forwards.append(record)
        else:
            self._stage_refusal(record, refusal)
        if state is not None:
            runs.staged[run_id] = state
            if runs.waiting:
                runs.stage_moved(run_id)
        if held:
            runs.stage_held(run_id)
        if finding is not None:
            self._staged.batch.count_finding(record.topic, finding)

    def stage_position(self, record: SourceRecord, partition: Partition) -> None:
        """Take in how far a topic-partition is judged.

        Args:
            record: The last record that was staged.
            partition: Its partition number's state.

        Raises:
            RuntimeError: The offset does not rise: records came twice or out of order.
        """
        entry, next_offset = (record.topic, record.partition), record.offset + 1
        before = self._staged.next_offsets.get(entry, partition.positions.get(record.topic))
        if before is not None and next_offset <= before:
            raise RuntimeError(
                f"{record.topic} partition {record.partition}: offset {record.offset} came after {before}"
            )
        self._staged.next_offsets[entry] = next_offset
        self._staged.partitions[record.partition] = partition

    def take_forwards(self) -> list[SourceRecord]:
        """Hand out the records to forward and count them."""
        taken, self.forwards = self.forwards, []
        self._staged.batch.count_forwarded(taken)
        return taken

    def take_records(self) -> list[OutgoingRecord]:
        """Hand out the other records to write."""
        taken, self.records = self.records, []
        return taken

    def stage_own(self, record: OutgoingRecord) -> None:
        """Take in an event of the own run."""
        self.records.append(record)

    def stage_forgotten(self, partition: Partition, run_ids: list[str]) -> None:
        """Take in tombstones for runs that are past their horizon.

        The transaction carries a source offset of the partition, unchanged if need be, since one without is not
        fenced by the group.
        """
        positions = [(topic, offset) for topic, offset in partition.positions.items() if offset is not None]
        if not positions:
            return
        self._staged.forgotten[partition.number] = run_ids
        self._staged.partitions[partition.number] = partition
        topic, offset = positions[0]
        self._staged.next_offsets.setdefault((topic, partition.number), offset)

    def seal(self) -> None:
        """Stage the changelog and the relays entry: the last state of every touched run, once."""
        now_ms = self._clock.now_ms()
        changelog = self._topics.changelog
        for number, partition in self._staged.partitions.items():
            for run_id in self._staged.forgotten.get(number, ()):
                self.records.append(OutgoingRecord(changelog, None, run_key(run_id), number, now_ms, None))
            for run_id, state in partition.runs.seal(now_ms).items():
                value = encode_run_state(state)
                self.records.append(OutgoingRecord(changelog, value, run_key(run_id), number, now_ms, None))
        # The positions come last: their delivered offset is how far this partition's run states are in step.
        for (topic, number), offset in self._staged.next_offsets.items():
            ids = self._staged.partitions[number].topic_ids
            position = SourcePosition(offset, ids.get(topic, ""), ids.get(changelog, ""))
            value = encode_source_position(position)
            self.records.append(OutgoingRecord(changelog, value, source_key(topic), number, now_ms, None))
        if self._own_run.touched:
            entry = relays_entry(self._topics.relays, self._own_run.identity, self._own_run.staged, now_ms)
            self.records.append(entry)

    def committed(self, changelog_ends: dict[int, int]) -> Batch:
        """The transaction is committed: what it staged is current.

        Args:
            changelog_ends: Changelog partition to the offset after the last record that this transaction wrote there.

        Returns:
            What to count.
        """
        staged, self._staged = self._staged, _Staged()
        for number, partition in staged.partitions.items():
            partition.runs.commit()
            partition.runs.forget(staged.forgotten.get(number, ()))
            partition.changelog_next = changelog_ends.get(number, partition.changelog_next)
        for (topic, number), offset in staged.next_offsets.items():
            staged.partitions[number].positions[topic] = offset
        self._own_run.commit()
        return staged.batch

    def dropped(self) -> None:
        """The transaction is not committed: nothing of it happened."""
        staged, self._staged = self._staged, _Staged()
        self.forwards, self.records = [], []
        for partition in staged.partitions.values():
            partition.runs.drop()
        self._own_run.drop()

    def _stage_refusal(self, record: SourceRecord, refusal: Refusal) -> None:
        now_ms = self._clock.now_ms()
        own = self._own_run.staged
        if own is None:
            raise RuntimeError("the own run is not open")
        run_id = excerpt(refusal.source_run_id, MAX_EXCERPT_SCALARS).text
        kept = Quarantined(record, refusal.cause.value, run_id, own.run_id, own.next_seq, now_ms)
        key, value = _quarantine_key(record.key), encode_quarantined(kept)
        if record_batch_bytes(key, value, None) > self._limits.quarantine_record_bytes_max:
            value = encode_quarantined(kept, compress=True)
        kept_whole = OutgoingRecord(self._topics.quarantine, value, key, HASHED, now_ms, None)
        _require_fit(record, kept_whole, self._limits.quarantine_record_bytes_max)
        published = self._own_run.refuse(refusal.draft, now_ms, _coordinates(record, refusal))
        try:
            _require_fit(record, published, self._limits.unified_record_bytes_max)
        except PartitionFault:
            self._own_run.staged = own
            raise
        self.records += [published, kept_whole]
        self._staged.batch.count_refused(record, refusal.cause.value)


def _require_fit(refused: SourceRecord, output: OutgoingRecord, bytes_max: int) -> None:
    """Hold what a refusal must write against what its topic takes.

    Raises:
        PartitionFault: It does not fit; the refused record is neither dropped nor passed over.
    """
    size_bytes = record_batch_bytes(output.key, output.value, output.headers)
    if size_bytes > bytes_max:
        reason = (
            f"offset {refused.offset} of {refused.topic} is refused, and {output.topic} must take {size_bytes} bytes "
            f"for that but takes {bytes_max}; raise its max.message.bytes and restart"
        )
        raise PartitionFault(refused.partition, reason)


def relays_entry(topic: str, identity: str, run: RelayRun | None, now_ms: int) -> OutgoingRecord:
    """What the relays topic is told of an identity.

    Args:
        topic: The relays topic.
        identity: The transactional identity, the record's key.
        run: Its open own run; None writes a tombstone.
        now_ms: Milliseconds since the epoch.
    """
    value = None if run is None else encode_relay_run(run)
    return OutgoingRecord(topic, value, identity.encode(), HASHED, now_ms, None)


def _quarantine_key(key: bytes | None) -> bytes | None:
    """The key under which a refused record is kept: its own, so that a run's records stay together in order.

    A key of extravagant length is replaced by its digest; the envelope holds it whole, once, and so fits wherever
    the largest source record and a bounded envelope do.
    """
    if key is None or len(key) <= QUARANTINE_KEY_BYTES_MAX:
        return key
    return hashlib.sha256(key).hexdigest().encode()


def _coordinates(record: SourceRecord, refusal: Refusal) -> list[Header]:
    """The headers that say which record a refusal is about."""
    headers: list[Header] = [
        ("relay.source.topic", record.topic.encode()),
        ("relay.source.partition", str(record.partition).encode()),
        ("relay.source.offset", str(record.offset).encode()),
    ]
    if refusal.source_run_id_cut:
        headers.append(("relay.source.run.sha256", refusal.source_run_sha256().encode()))
    return headers
