"""The group member that reads the source topics.

Rebalance callbacks run inside `fetch`. Whatever a call that saw one returns is thrown away: those records were
fetched under the old assignment, and the new one starts from explicit offsets.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientTopicPartition

from relay.errors import Fatal, Fenced
from relay.kafka.errors import describe, kafka_error, sort_consumer
from relay.kafka.wake import wake_leader
from relay.records import SourceRecord, TopicPartition

_LEAVE_S: Final = 0.2
_LEAVE_LOOKS: Final = 25
"""How long, and how often, the revocation is waited for before joining anew."""
_NO_OFFSET_BELOW: Final = 0
"""Committed offsets below this are the client's way to say that there is none."""


_new_record: Final[Callable[[type[SourceRecord], tuple[Any, ...]], SourceRecord]] = tuple.__new__
"""The constructor without its arguments to sort out: half the time, once a record."""


@contextlib.contextmanager
def _sorted(step: str) -> Iterator[None]:
    """Turn a failed call of the client into one of the relay's errors: none may end the process without its code."""
    try:
        yield
    except KafkaException as exception:
        error = kafka_error(exception)
        raise sort_consumer(error) or Fatal(f"{step}: {describe(error)}") from exception


class AssignmentListener(Protocol):
    """What is told of assignments; called from within `fetch` and `close`."""

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """These are ours now, paused until `resume`."""
        ...

    def revoked(self, partitions: list[TopicPartition]) -> None:
        """These are about to go: settle or drop what is in hand before returning."""
        ...

    def lost(self, partitions: list[TopicPartition]) -> None:
        """These are gone already: drop what is in hand."""
        ...

    def unreadable(self, entry: TopicPartition, reason: str) -> None:
        """This one cannot be read on without jumping over something."""
        ...


class SourceConsumer:
    """Reads source records; every topic-partition is paused when assigned and starts where `resume` says.

    Args:
        settings: The client's settings.
        log_ends: Gives the offset that ends the log of each topic-partition.
        fenced: Ends the process. Called from within a rebalance callback where the identity turned out to be another's:
            an error raised there would let the client's own threads join the group under the instance id once more,
            and put the successor out (tried).

    Raises:
        Fatal: The client does not take its settings.
    """

    _listener: AssignmentListener
    _topics: list[str]

    def __init__(
        self,
        settings: dict[str, Any],
        log_ends: Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]],
        fenced: Callable[[Fenced], None],
    ) -> None:
        self._log_ends = log_ends
        self._fenced = fenced
        self._rebalanced = False
        try:
            self._client = Consumer(settings)
        except KafkaException as exception:
            raise Fatal(f"consumer: {describe(kafka_error(exception))}") from exception

    def join(self, topics: Sequence[str], listener: AssignmentListener) -> None:
        """Join the group; assignments come from within `fetch`.

        Args:
            topics: The source topics.
            listener: Told of assignments, and of topic-partitions that cannot be read on.
        """
        self._listener = listener
        self._topics = list(topics)
        with _sorted("subscribe"):
            self._client.subscribe(self._topics, on_assign=self._assign, on_revoke=self._revoke, on_lost=self._lose)

    def rejoin(self) -> None:
        """Leave the group and join it anew, so that it looks at what this member subscribes to."""
        with _sorted("unsubscribe"):
            self._client.unsubscribe()
        for _ in range(_LEAVE_LOOKS):
            # What this returns is read again: after a revocation everything starts at committed offsets.
            self.fetch(1, _LEAVE_S)
            if self._rebalanced:
                break
        self.join(self._topics, self._listener)

    def fetch(self, limit: int, timeout_s: float) -> list[SourceRecord]:
        """Read what is there.

        Args:
            limit: The most records.
            timeout_s: How long to wait for the first; what has arrived by then is taken without waiting for more.

        Returns:
            Records of resumed topic-partitions, in order within each.

        Raises:
            Fenced: Another process has this group instance id.
            Fatal: The client cannot go on.
        """
        self._rebalanced = False
        with _sorted("fetch"):
            first = self._client.poll(timeout_s)
            messages = [] if first is None else [first, *self._client.consume(limit - 1, 0)]
        if self._rebalanced:
            self._report_errors(messages)
            return []
        try:
            return [
                _new_record(
                    SourceRecord,
                    (m.topic(), m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value(), m.headers()),
                )
                for m in messages
                if m.error() is None or self._report_error(m)
            ]
        except UnicodeDecodeError:
            return self._with_readable_headers(messages)

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_s: float
    ) -> dict[TopicPartition, int | None] | None:
        """Read committed offsets, waiting for those that are still in a transaction.

        Returns:
            Topic-partition to committed next offset or None where there is none; None when the time ran out.

        Raises:
            Fenced, Fatal: The client cannot go on.
        """
        asked = [ClientTopicPartition(topic, number) for topic, number in partitions]
        try:
            answers = self._client.committed(asked, timeout_s)
        except KafkaException as exception:
            error = kafka_error(exception)
            failure = sort_consumer(error)
            if failure is not None:
                raise failure from exception
            return None
        if any(answer.error is not None for answer in answers):
            return None
        return {
            TopicPartition(answer.topic, answer.partition): answer.offset if answer.offset >= _NO_OFFSET_BELOW else None
            for answer in answers
        }

    def resume(self, offsets: dict[TopicPartition, int]) -> None:
        """Start topic-partitions at explicit offsets."""
        self.rewind(offsets)
        with _sorted("resume"):
            self._client.resume([ClientTopicPartition(topic, number) for topic, number in offsets])
        wake_leader(self._client, ClientTopicPartition(*next(iter(offsets))))

    def rewind(self, offsets: dict[TopicPartition, int]) -> None:
        """Go back to committed offsets after a transaction that was not committed."""
        with _sorted("seek"):
            for (topic, number), offset in offsets.items():
                self._client.seek(ClientTopicPartition(topic, number, offset))

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop reading topic-partitions."""
        with _sorted("pause"):
            self._client.pause([ClientTopicPartition(topic, number) for topic, number in partitions])

    def group_metadata(self) -> object:
        """The member's metadata as of now; to be taken when a batch's first record is polled."""
        return self._client.consumer_group_metadata()

    def end_offset(self, entry: TopicPartition) -> int | None:
        """The last stable offset as the client last heard of it, None before it did."""
        try:
            _low, high = self._client.get_watermark_offsets(ClientTopicPartition(*entry), cached=True)
        except KafkaException:
            return None  # a gauge is not worth more: the next look may know
        return high if high >= _NO_OFFSET_BELOW else None

    def abandon(self) -> None:
        """Let the client go without leaving the group; nothing more is read, and the listener is told nothing more.

        A static member does not leave the group by closing either (tried). And `close` would serve an assignment that
        is under way inside itself, where the client's answer to it can wait for ever, with the interpreter's lock held
        (tried: one stop in ten within the first second).
        """
        del self._client

    def _assign(self, client: Consumer, partitions: list[ClientTopicPartition]) -> None:
        self._rebalanced = True
        # Nothing is read before `resume` seeks, but the client wants to know where to begin. Without an offset it would
        # ask for the committed one by itself, before the run states are restored; a logical one it resolves in its own
        # time, and then forgets a seek that came in between; one that retention has overtaken is an error after which
        # it takes no seek (all tried). The end of the log, as a number, is none of these.
        ends = self._log_ends(_plain(partitions))
        client.assign([ClientTopicPartition(topic, number, offset) for (topic, number), offset in ends.items()])
        client.pause(partitions)
        self._listener.assigned(_plain(partitions))

    def _revoke(self, client: Consumer, partitions: list[ClientTopicPartition]) -> None:
        self._rebalanced = True
        try:
            self._listener.revoked(_plain(partitions))
        except Fenced as error:
            self._fenced(error)
            raise
        client.unassign()

    def _lose(self, client: Consumer, partitions: list[ClientTopicPartition]) -> None:
        self._rebalanced = True
        try:
            self._listener.lost(_plain(partitions))
        except Fenced as error:
            self._fenced(error)
            raise
        client.unassign()

    def _report_errors(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.error() is not None:
                self._report_error(message)

    def _report_error(self, message: Message) -> bool:
        """Act on an error that came in place of a record. Returns False: it is no record."""
        error = message.error()
        if error is None:
            return False
        failure = sort_consumer(error)
        if isinstance(failure, Fenced | Fatal):
            raise failure
        topic, number = message.topic(), message.partition()
        if error.code() in _UNREADABLE and topic is not None and number is not None:
            self._listener.unreadable(TopicPartition(topic, number), describe(error))
        return False

    def _with_readable_headers(self, messages: Iterable[Message]) -> list[SourceRecord]:
        """A header name is not UTF-8, which this client cannot repeat: stop that partition instead of changing it."""
        records = []
        unreadable: set[TopicPartition] = set()
        for message in messages:
            topic, number, offset = message.topic(), message.partition(), message.offset()
            if message.error() is not None:
                self._report_error(message)
                continue
            if topic is None or number is None or offset is None:
                continue
            entry = TopicPartition(topic, number)
            if entry in unreadable:
                continue
            try:
                headers = message.headers()
            except UnicodeDecodeError:
                unreadable.add(entry)
                self._listener.unreadable(entry, f"offset {offset}: expected header names in UTF-8")
                continue
            stamp = message.timestamp()[1]
            records.append(SourceRecord(topic, number, offset, stamp, message.key(), message.value(), headers))  # type: ignore[arg-type]  # the stub widens headers
        return records


_UNREADABLE: Final = frozenset(
    {
        KafkaError._AUTO_OFFSET_RESET,  # noqa: SLF001 - the client's public constants begin so
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
        KafkaError.TOPIC_EXCEPTION,
    }
)
"""Errors after which a topic-partition cannot be read on without jumping over something."""


def _plain(partitions: Iterable[ClientTopicPartition]) -> list[TopicPartition]:
    return [TopicPartition(entry.topic, entry.partition) for entry in partitions]
