"""Reads compacted topics of the relay's own, read-committed, without a group: positions are known and explicit."""

from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientTopicPartition

from relay.errors import Fatal
from relay.kafka.errors import describe, kafka_error, sort_consumer
from relay.kafka.wake import wake_leader

_PARTITION_EOF: Final = KafkaError._PARTITION_EOF  # noqa: SLF001 - the client's public constants begin so
_NOT_THERE: Final = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)  # noqa: SLF001 - the client's public constants begin so
_RECORDS_A_CALL: Final = 10_000


class LogRecord:
    """One record of a log that is being read: where it stands, its key and its value."""

    __slots__ = ("key", "offset", "partition", "value")

    def __init__(self, partition: int, offset: int, key: bytes | None, value: bytes | None) -> None:
        self.partition = partition
        self.offset = offset
        self.key = key
        self.value = value


class LogReader:
    """Reads partitions of one topic, following how far each was read, markers of transactions included.

    Args:
        settings: The client's settings; `enable.partition.eof` and `isolation.level` among them.
        topic: The topic.
    """

    def __init__(self, settings: dict[str, Any], topic: str) -> None:
        self._topic = topic
        self._positions: dict[int, int] = {}
        self._out_of_range: set[int] = set()
        try:
            self._client = Consumer(settings)
        except KafkaException as exception:
            raise Fatal(f"{topic}: {describe(kafka_error(exception))}") from exception

    def start(self, partition: int, offset: int | None) -> None:
        """Begin reading a partition at an offset, None being the beginning of the log."""
        self.stop(partition)
        self._positions[partition] = offset or 0
        at = OFFSET_BEGINNING if offset is None else offset
        try:
            self._client.incremental_assign([ClientTopicPartition(self._topic, partition, at)])
        except KafkaException as exception:
            raise Fatal(f"{self._topic}: {describe(kafka_error(exception))}") from exception
        wake_leader(self._client, ClientTopicPartition(self._topic, partition))

    def stop(self, partition: int) -> None:
        """Stop reading a partition, if it is being read."""
        if self._positions.pop(partition, None) is not None:
            self._client.incremental_unassign([ClientTopicPartition(self._topic, partition)])
        self._out_of_range.discard(partition)

    def position(self, partition: int) -> int:
        """The offset up to which a partition was read; it passes the markers and records of aborted transactions."""
        return self._positions[partition]

    def out_of_range(self, partition: int) -> bool:
        """Whether the offset that reading began at is no longer (or not yet) in the log."""
        return partition in self._out_of_range

    def read(self, timeout_s: float) -> list[LogRecord]:
        """Read what is there.

        Args:
            timeout_s: How long to wait for something to come, seconds.

        Returns:
            Records in order within each partition.

        Raises:
            Fatal: The client cannot go on.
        """
        records = []
        for message in self._client.consume(_RECORDS_A_CALL, timeout_s):
            error = message.error()
            partition, offset = message.partition(), message.offset()
            if error is not None:
                self._note(error, partition, offset)
            elif partition is not None and offset is not None and partition in self._positions:
                self._positions[partition] = offset + 1
                records.append(LogRecord(partition, offset, message.key(), message.value()))
        return records

    def close(self) -> None:
        """Let the client go."""
        self._client.close()

    def _note(self, error: KafkaError, partition: int | None, offset: int | None) -> None:
        if partition in self._positions and offset is not None:
            if error.code() == _PARTITION_EOF:
                self._positions[partition] = max(self._positions[partition], offset)
                return
            if error.code() in _NOT_THERE:
                self._out_of_range.add(partition)
                return
        failure = sort_consumer(error)
        if failure is not None:
            raise Fatal(f"{self._topic}: {failure}")
