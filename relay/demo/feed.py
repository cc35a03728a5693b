"""Feeds the source topics: records sessions, breaks some, and keeps what the cluster acknowledged, to the byte."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, Message, Producer

from relay.clock import Clock
from relay.demo.breakage import BREAKAGES, Breakage, Sending
from relay.demo.commands import LISTING, Recorded, commands_of_round
from relay.demo.ground import Ground
from relay.judge.verdict import Cause
from relay.record.kafka import source_producer_settings
from relay.record.session import Session, SessionSettings, user_name
from relay.records import Header, SourceRecord

_FLUSH_TIMEOUT_S: Final = 10.0
_QUEUE_WAIT_S: Final = 0.1
_ROUNDS_BEFORE_BREAKAGE: Final = 2
_PAUSE_S: Final = 0.02
"""Between two sessions of one source: the table should be readable, not fast."""
_KEEP_PAUSE_S: Final = 2.0
"""The same once the show is over and `--keep` goes on."""
_HEADERS: Final[list[Header]] = [("recorded-by", b"demo"), ("tag", b"one"), ("tag", b""), ("tag", None)]
"""What one of the sources puts beside its records: a repeated name, an empty value, and none."""


class Sent(NamedTuple):
    """One record that the cluster acknowledged, and what must become of it."""

    record: SourceRecord
    cause: Cause | None
    why: str | None
    """What was broken about it, None for records as they were recorded."""


class _Kept:
    """A session's destination: memory."""

    def __init__(self) -> None:
        self.records: list[Sending] = []

    def write(self, key: bytes | None, value: bytes) -> None:
        """Keep one event."""
        self.records.append(Sending(key, value))


class Feed:
    """Records sessions in a thread for each source.

    Args:
        ground: Where to.
        clock: Stamps the records.

    Attributes:
        sent: What the cluster acknowledged.
        failures: What it did not, in words.
    """

    def __init__(self, ground: Ground, clock: Clock) -> None:
        self._clock = clock
        self.sent: list[Sent] = []
        self.failures: list[str] = []
        self._client = Producer(source_producer_settings(ground.config.kafka))
        self._stopping = threading.Event()
        self._slow = threading.Event()
        sources = ground.config.source_topics
        self._threads = [
            threading.Thread(target=partial(self._work, topic, BREAKAGES[i :: len(sources)]), name=topic, daemon=True)
            for i, topic in enumerate(sources)
        ]
        self._headers: dict[str, list[Header]] = {sources[-1]: _HEADERS}

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def slow_down(self) -> None:
        """Go on, at leisure."""
        self._slow.set()

    def stop(self) -> None:
        """End the sessions in hand, and wait until all is acknowledged."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        waiting_count = self._client.flush(_FLUSH_TIMEOUT_S)
        if waiting_count:
            self.failures.append(f"{waiting_count} records were not acknowledged in time")

    def _work(self, topic: str, breakages: Sequence[Breakage]) -> None:
        """Record round after round; the breakages come once, after the first few rounds."""
        number = 0
        while not self._stopping.is_set():
            for command in commands_of_round(number):
                self._send(topic, self._record(command), None)
                if self._stopping.wait(_KEEP_PAUSE_S if self._slow.is_set() else _PAUSE_S):
                    break
            number += 1
            if number == _ROUNDS_BEFORE_BREAKAGE:
                for breakage in breakages:
                    self._send(topic, breakage.apply(self._record(LISTING)), breakage.why)
        if number < _ROUNDS_BEFORE_BREAKAGE:
            for breakage in breakages:
                self._send(topic, breakage.apply(self._record(LISTING)), breakage.why)

    def _record(self, command: Recorded) -> list[Sending]:
        """Run a command and keep its events."""
        kept = _Kept()
        Session(SessionSettings(actor=user_name(), timeout_s=command.timeout_s), kept).run(command.argv)
        return kept.records

    def _send(self, topic: str, sendings: Sequence[Sending], why: str | None) -> None:
        for sending in sendings:
            # The stamp is ours, not read off the acknowledgement: the embedded cluster invents one there (tried).
            record = SourceRecord(
                topic, -1, -1, self._clock.now_ms(), sending.key, sending.value, self._headers.get(topic)
            )
            self._produce(record, partial(self._acknowledged, Sent(record, sending.cause, why)))

    def _produce(self, record: SourceRecord, on_delivery: Callable[[KafkaError | None, Message], None]) -> None:
        while True:
            try:
                self._client.produce(
                    record.topic,
                    record.value,
                    record.key,
                    on_delivery=on_delivery,
                    timestamp=record.timestamp_ms,
                    headers=record.headers,  # type: ignore[arg-type] # the stubs' list is invariant
                )
            except BufferError:
                self._client.poll(_QUEUE_WAIT_S)
                continue
            self._client.poll(0)
            return

    def _acknowledged(self, sent: Sent, error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is not None or partition is None or offset is None:
            self.failures.append(error.name() if error is not None else "no coordinates")
            return
        self.sent.append(sent._replace(record=sent.record._replace(partition=partition, offset=offset)))
