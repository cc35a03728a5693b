"""The transactional producer: begins, writes, commits or aborts, and says which of the relay's errors a failure is.

After a call whose outcome is unknown the client underneath is thrown away and made anew: `init_transactions` of the
same identity settles what was open, and only then is the true outcome read back by the caller. librdkafka does not
have the newest transaction protocol (KIP-890), so a delayed end of one transaction could otherwise hit the next.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as ClientTopicPartition

from relay.errors import Fatal, Fenced, OutcomeUnknown, RelayError, TransactionAborted
from relay.kafka.errors import describe, is_fatal, kafka_error, sort_transactional
from relay.records import OutgoingRecord, SourceRecord, TopicPartition

_INIT_SLICE_S: Final = 1.0
"""How long a stop may go unheard while the identity is being taken over."""
_QUEUE_WAIT_S: Final = 0.05
# _HEADERS: the stub wants values of str, bytes or None in an invariant list; ours holds bytes or None.
_OnDelivery = Callable[[KafkaError | None, Message], None]


class TransactionalProducer:
    """One transactional identity.

    Args:
        settings: The client's settings, the identity among them.
        keep_partition: Whether a forwarded record keeps its partition number; else the client hashes the key.
        init_timeout_s: The bound of taking the identity over, seconds.
        waiting: Called now and then while that takes; may raise `Interrupted`.
        call_timeout_s: The bound of any other call, seconds.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        keep_partition: bool,
        init_timeout_s: float,
        call_timeout_s: float,
        waiting: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._keep_partition = keep_partition
        self._init_timeout_s = init_timeout_s
        self._waiting = waiting
        self._call_timeout_s = call_timeout_s
        self._client: Producer | None = None
        self._changelog_ends: dict[int, int] = {}
        self._in_transaction = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._in_transaction

    def renew(self) -> None:
        """Make the client (anew) and settle whatever its identity left open.

        Raises:
            Fatal: The client's settings are refused, or the cluster did not answer in time.
            Fenced: Another process has this identity.
            Interrupted: A stop was asked for.
        """
        self.abandon()
        deadline = time.monotonic() + self._init_timeout_s
        try:
            client = Producer(self._settings)
            while not _initialised(client, last=time.monotonic() > deadline):
                self._waiting()
        except KafkaException as exception:
            error = sort_transactional(kafka_error(exception), "init_transactions")
            passing = isinstance(error, OutcomeUnknown | TransactionAborted)
            raise (Fatal(str(error)) if passing else error) from exception
        self._client = client

    def begin(self) -> None:
        """Open a transaction. Raises the sorted errors of `relay.kafka.errors`."""
        self._changelog_ends = {}
        try:
            self._producer.begin_transaction()
        except KafkaException as exception:
            raise self._sorted(exception, "begin_transaction") from exception
        self._in_transaction = True

    def forward(self, topic: str, records: Iterable[SourceRecord]) -> None:
        """Write source records to a topic as they are: value, key, headers and timestamp.

        Raises:
            TransactionAborted, OutcomeUnknown, Fenced, Fatal: As sorted; the transaction is then over.
        """
        produce = self._producer.produce
        hashed = not self._keep_partition
        for record in records:
            _topic, partition, _offset, timestamp_ms, key, value, headers = record
            target = -1 if hashed else partition
            try:
                produce(topic, value, key, target, None, None, timestamp_ms, headers)  # type: ignore[arg-type]  # _HEADERS
            except BufferError:
                self._produce_patiently(OutgoingRecord(topic, value, key, target, timestamp_ms, headers))
            except KafkaException as exception:
                raise self._sorted(exception, "produce") from exception
        self._producer.poll(0)

    def write(self, records: Iterable[OutgoingRecord], changelog: str) -> None:
        """Write records of the relay's own.

        Args:
            records: In order.
            changelog: The changelog topic, whose delivered offsets are noted.

        Raises:
            TransactionAborted, OutcomeUnknown, Fenced, Fatal: As sorted; the transaction is then over.
        """
        for record in records:
            on_delivery = self._note_changelog if record.topic == changelog else None
            try:
                self._produce(record, on_delivery)
            except BufferError:
                self._produce_patiently(record, on_delivery)
            except KafkaException as exception:
                raise self._sorted(exception, "produce") from exception

    def commit(self, offsets: dict[TopicPartition, int], group_metadata: object, timeout_s: float) -> dict[int, int]:
        """End the transaction with the source offsets in it.

        Args:
            offsets: Topic-partition to next offset.
            group_metadata: As it was when the batch's first record was polled.
            timeout_s: The bound of both calls together, seconds.

        Returns:
            Changelog partition to the offset after the last record that the transaction wrote there.

        Raises:
            TransactionAborted, OutcomeUnknown, Fenced, Fatal: As sorted; the transaction is then over.
        """
        deadline = time.monotonic() + timeout_s
        producer = self._producer
        try:
            if offsets:
                entries = [ClientTopicPartition(t, p, offset) for (t, p), offset in offsets.items()]
                producer.send_offsets_to_transaction(entries, group_metadata, timeout_s)
            producer.commit_transaction(max(0.1, deadline - time.monotonic()))
            producer.poll(0)
        except KafkaException as exception:
            raise self._sorted(exception, "commit_transaction") from exception
        self._in_transaction = False
        return self._changelog_ends

    def abort(self) -> None:
        """Abort the open transaction, if there is one.

        Raises:
            OutcomeUnknown, Fenced, Fatal: The abort itself failed.
        """
        if not self._in_transaction:
            return
        self._in_transaction = False
        try:
            self._producer.abort_transaction(self._call_timeout_s)
        except KafkaException as exception:
            error = sort_transactional(kafka_error(exception), "abort_transaction")
            raise (OutcomeUnknown(str(error)) if isinstance(error, TransactionAborted) else error) from exception

    def abandon(self) -> None:
        """Throw the client away; whatever is in doubt is settled by the next `renew` of this identity."""
        self._client = None  # destroys it at once; its `close` fails inside a call in doubt (tried)
        self._in_transaction = False

    @property
    def _producer(self) -> Producer:
        if self._client is None:
            raise RuntimeError("the producer was not initialised")
        return self._client

    def _sorted(self, exception: KafkaException, step: str) -> RelayError:
        """Sort a failure; an abortable one is aborted here, so that the caller need only go on."""
        cause = kafka_error(exception)
        error = sort_transactional(cause, step)
        if is_fatal(cause) and not isinstance(error, Fenced):
            error = self._fatal_error(cause, step)
        if isinstance(error, TransactionAborted):
            try:
                self.abort()
            except RelayError as failure:
                return failure
        return error

    def _fatal_error(self, cause: KafkaError, step: str) -> RelayError:
        """Ask for the error behind a client that is dead: `produce` only says that it is (tried), an abort says why."""
        try:
            self._producer.abort_transaction(self._call_timeout_s)
        except KafkaException as exception:
            error = sort_transactional(kafka_error(exception), step)
            if isinstance(error, Fenced):
                return error
        return Fatal(f"{step}: {describe(cause)}")

    def _produce(self, record: OutgoingRecord, on_delivery: _OnDelivery | None) -> None:
        topic, value, key, partition, timestamp_ms, headers = record
        self._producer.produce(topic, value, key, partition, None, on_delivery, timestamp_ms, headers)  # type: ignore[arg-type]  # _HEADERS

    def _produce_patiently(self, record: OutgoingRecord, on_delivery: _OnDelivery | None = None) -> None:
        """The client's queue is full: let it send, within one call's bound."""
        deadline = time.monotonic() + self._call_timeout_s
        while time.monotonic() < deadline:
            self._producer.poll(_QUEUE_WAIT_S)
            try:
                self._produce(record, on_delivery)
            except BufferError:
                continue
            except KafkaException as exception:
                raise self._sorted(exception, "produce") from exception
            return
        raise OutcomeUnknown(f"produce: the client's queue stayed full for {self._call_timeout_s:g} s")

    def _note_changelog(self, error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is None and partition is not None and offset is not None:
            self._changelog_ends[partition] = max(offset + 1, self._changelog_ends.get(partition, 0))


def _initialised(client: Producer, *, last: bool) -> bool:
    """Wait for a slice; a call that timed out is taken up again by the next one. The last one raises."""
    try:
        client.init_transactions(_INIT_SLICE_S)
    except KafkaException as exception:
        if last or not kafka_error(exception).retriable():
            raise
        return False
    return True
