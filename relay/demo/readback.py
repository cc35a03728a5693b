"""Reads the topics back, read-committed, as any consumer would, and keeps every record."""

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from relay.demo.ground import PARTITION_COUNT, Ground
from relay.errors import NotAnswered
from relay.kafka.admin import Admin
from relay.kafka.settings import admin_settings, reader_settings
from relay.records import SourceRecord

_RECORDS_A_CALL: Final = 1_000
_WAIT_S: Final = 0.1


class ReadBack:
    """Reads some topics from their beginning, in a thread.

    Args:
        ground: The cluster.
        topics: The topics, each of `PARTITION_COUNT` partitions.

    Attributes:
        records: Topic to its records as they came, in order within each partition.
    """

    def __init__(self, ground: Ground, topics: Sequence[str]) -> None:
        self.records: dict[str, list[SourceRecord]] = {topic: [] for topic in topics}
        self._positions: dict[tuple[str, int], int] = {
            (topic, number): 0 for topic in topics for number in range(PARTITION_COUNT)
        }
        settings: dict[str, Any] = reader_settings(ground.config) | {"group.id": f"{ground.config.relay.name}.reader"}
        self._admin = Admin(admin_settings(ground.config))
        self._client = Consumer(settings)
        self._client.assign([TopicPartition(topic, number, 0) for topic, number in self._positions])
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name="read-back", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def count(self, topics: Sequence[str]) -> int:
        """How many records of topics were read so far."""
        return sum(len(self.records[topic]) for topic in topics)

    def read_to_end(self, timeout_s: float) -> bool:
        """Wait until everything was read; nobody may write any more.

        Args:
            timeout_s: The bound, seconds.

        Returns:
            Whether the end was reached.
        """
        deadline_s = time.monotonic() + timeout_s
        numbers = range(PARTITION_COUNT)
        try:
            # The admin client is asked: the consumer's own question is never answered by the embedded cluster (tried).
            ends = {topic: self._admin.log_ends(topic, numbers, timeout_s) for topic in self.records}
        except NotAnswered:
            return False
        while any(self._positions[topic, number] < ends[topic][number] for topic, number in self._positions):
            if time.monotonic() > deadline_s:
                return False
            time.sleep(_WAIT_S)
        return True

    def stop(self) -> None:
        """End, and let the client go."""
        self._stopping.set()
        self._thread.join()
        self._client.close()

    def _read(self) -> None:
        while not self._stopping.is_set():
            for message in self._client.consume(_RECORDS_A_CALL, _WAIT_S):
                self._keep(message)

    def _keep(self, message: Message) -> None:
        topic, number, offset = message.topic(), message.partition(), message.offset()
        if topic is None or number is None or offset is None:
            return
        error = message.error()
        if error is None:
            timestamp_ms = message.timestamp()[1]
            record = SourceRecord(
                topic,
                number,
                offset,
                timestamp_ms,
                message.key(),
                message.value(),
                message.headers(),  # type: ignore[arg-type] # the stubs say str for what is bytes
            )
            self.records[topic].append(record)
            self._positions[topic, number] = offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's public constants begin so
            # The end of a log passes the markers of transactions, which are no records.
            self._positions[topic, number] = max(offset, self._positions[topic, number])
