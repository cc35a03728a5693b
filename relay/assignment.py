"""What becomes of the partitions that the group assigns here: restored, judged, halted, let go.

Reading always starts and goes on at explicit offsets: the committed ones, or the start of a log that was never read.
"""

from collections.abc import Iterable

from relay.clock import Clock
from relay.partitions import Partition, Partitions, Phase, Restored
from relay.ports import Listener, Restore, Source
from relay.records import TopicPartition


class Assignment:
    """Moves partition numbers through their phases, and the reading of their topic-partitions with them.

    Args:
        source: The group member, which reads.
        partitions: The partition numbers and their phases.
        restorer: Restores run states, a slice at a time.
        listener: Told of each change of phase.
        clock: Measures how long a partition was away.
    """

    def __init__(
        self, source: Source, partitions: Partitions, restorer: Restore, listener: Listener, clock: Clock
    ) -> None:
        self._source = source
        self._partitions = partitions
        self._restorer = restorer
        self._listener = listener
        self._clock = clock

    def take(self, assigned: Iterable[TopicPartition]) -> None:
        """Restore what is whole; what is not stays paused until the other sources' partitions come too."""
        complete = self._partitions.assign(assigned, self._clock.monotonic_s())
        self._restorer.begin(complete)
        for partition in self._partitions:
            self._listener.partition_changed(partition, None)

    def restore(self) -> None:
        """Go on restoring for a bounded while, and judge what is restored from now on."""
        offsets: dict[TopicPartition, int] = {}
        for restored in self._restorer.step():
            offsets |= self._admit(restored)
        if offsets:
            self._source.resume(offsets)

    def restore_again(self) -> None:
        """Nobody knows what is committed: everything that was judged is restored anew."""
        again = self._partitions.restore_again()
        for partition in again:
            self._source.pause(self._here(partition))
            self._listener.partition_changed(partition, None)
        self._restorer.begin(again)

    def rewind(self) -> None:
        """Go back to the committed offsets everywhere: what was fetched and not yet staged is fetched again, too."""
        for partition in self._partitions.running.values():
            self._source.rewind(self._reading_offsets(partition))

    def halt(self, partition: Partition, reason: str) -> None:
        """Stop one partition number loudly: going on would jump over something."""
        if partition.phase in (Phase.HALTED, Phase.INCOMPLETE):
            return
        self._partitions.halt(partition, reason)
        self._restorer.cancel([partition.number])
        self._source.pause(self._here(partition))
        self._listener.partition_changed(partition, None)

    def let_go(self, released: Iterable[TopicPartition]) -> None:
        """Give partitions up; nothing of them is in hand any more."""
        entries = list(released)
        self._restorer.cancel({entry.partition for entry in entries})
        self._partitions.release(entries, self._clock.monotonic_s())

    def _admit(self, restored: Restored) -> dict[TopicPartition, int]:
        """Judge a restored partition, unless what was restored forbids it.

        Returns:
            Where its reading starts; empty for one that is halted.
        """
        partition = restored.partition
        if restored.faults:
            self.halt(partition, "; ".join(restored.faults))
            return {}
        self._partitions.run(partition)
        self._listener.partition_changed(partition, restored.duration_s)
        return self._reading_offsets(partition)

    def _reading_offsets(self, partition: Partition) -> dict[TopicPartition, int]:
        return {entry: partition.reading_offset(entry.topic) for entry in self._here(partition)}

    def _here(self, partition: Partition) -> list[TopicPartition]:
        return self._partitions.topic_partitions(partition.number)
