"""The loop's edges, as small protocols: what it asks of Kafka and of its listener.

`relay.app` passes in the real ones; a test passes in doubles.
"""

from collections.abc import Iterable
from typing import Protocol

from relay.partitions import Partition, Restored
from relay.records import OutgoingRecord, SourceRecord, TopicPartition
from relay.telemetry.facts import Batch


class Source(Protocol):
    """Where records come from: a group member whose partitions start where `resume` says."""

    def fetch(self, limit: int, timeout_s: float) -> list[SourceRecord]:
        """Read what is there; assignments are told from within."""
        ...

    def group_metadata(self) -> object:
        """The membership as of now."""
        ...

    def resume(self, offsets: dict[TopicPartition, int]) -> None:
        """Start topic-partitions at explicit offsets."""
        ...

    def rewind(self, offsets: dict[TopicPartition, int]) -> None:
        """Go back to explicit offsets."""
        ...

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop reading topic-partitions."""
        ...


class Sink(Protocol):
    """Where records go: one transaction at a time."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def begin(self) -> None:
        """Open a transaction."""
        ...

    def forward(self, topic: str, records: Iterable[SourceRecord]) -> None:
        """Write source records as they are."""
        ...

    def write(self, records: Iterable[OutgoingRecord], changelog: str) -> None:
        """Write records of the relay's own."""
        ...

    def commit(self, offsets: dict[TopicPartition, int], group_metadata: object, timeout_s: float) -> dict[int, int]:
        """End the transaction with the offsets in it; returns how far the changelog was written."""
        ...

    def abort(self) -> None:
        """Abort what is open, if anything is."""
        ...

    def abandon(self) -> None:
        """Throw the client away after an unknown outcome; nothing more is sent by it."""
        ...


class Listener(Protocol):
    """What is told of what happened; it decides nothing."""

    def committed(self, outcome: Batch, duration_s: float) -> None:
        """A transaction was committed."""
        ...

    def not_committed(self, outcome: str, reason: str) -> None:
        """A transaction was aborted, or its outcome is unknown."""
        ...

    def partition_changed(self, partition: Partition, duration_s: float | None) -> None:
        """A partition came to another phase."""
        ...


class Restore(Protocol):
    """Restores partitions a slice at a time."""

    def begin(self, partitions: Iterable[Partition]) -> None:
        """Take partitions in hand."""
        ...

    def cancel(self, numbers: Iterable[int]) -> None:
        """Let partitions go."""
        ...

    def step(self) -> list[Restored]:
        """Go on for a bounded while; returns what is restored."""
        ...
