"""Writes events to a source topic: keyed by run id, by an idempotent producer, each delivery accounted for."""

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from relay.errors import Fatal, NotAnswered, StartUpError
from relay.kafka.admin import Admin
from relay.kafka.errors import describe, kafka_error
from relay.kafka.settings import CLIENT_RECORD_BYTES_MAX
from relay.kafka_settings import for_admin, for_producer
from relay.record.destinations import NotWritten

_ANSWER_TIMEOUT_S: Final = 10.0
_FLUSH_TIMEOUT_S: Final = 30.0
_QUEUE_WAIT_S: Final = 0.1
_NOT_FOR_IT: Final = ("transaction.timeout.ms",)
"""Settings of the relay's own producer that one without transactions has no use for."""


class Topic:
    """A source topic as a destination.

    Args:
        settings: Kafka settings under their own names, `bootstrap.servers` among them.
        topic: The topic; it must exist.

    Raises:
        StartUpError: The cluster does not answer, or there is no such topic.
        Fatal: The client does not take its settings.
    """

    def __init__(self, settings: Mapping[str, str | int | float | bool], topic: str) -> None:
        self._topic = topic
        self._failed_count = 0
        self._failure: str | None = None
        admin = Admin(dict(for_admin(settings)))
        try:
            there = admin.topic_ids([topic], _ANSWER_TIMEOUT_S)
        except NotAnswered as error:
            raise StartUpError([f"expected a Kafka cluster that answers, got: {error}"]) from error
        if topic not in there:
            raise StartUpError([f"{topic}: expected the topic to exist; create it first"])
        try:
            self._client = Producer(source_producer_settings(settings))
        except KafkaException as exception:
            raise Fatal(f"producer: {describe(kafka_error(exception))}") from exception

    def write(self, key: bytes | None, value: bytes) -> None:
        """Hand one event to the client, waiting while its queue is full."""
        while True:
            try:
                self._client.produce(self._topic, value, key, on_delivery=self._delivered)
            except BufferError:
                self._client.poll(_QUEUE_WAIT_S)
                continue
            except KafkaException as exception:
                self._note(kafka_error(exception))
            self._client.poll(0)
            return

    def close(self) -> None:
        """Wait until everything is delivered.

        Raises:
            NotWritten: Something is not.
        """
        waiting_count = self._client.flush(_FLUSH_TIMEOUT_S)
        if waiting_count:
            raise NotWritten(
                f"{waiting_count} events were not delivered to {self._topic} within {_FLUSH_TIMEOUT_S:g} s"
            )
        if self._failure is not None:
            raise NotWritten(f"{self._failed_count} events were not delivered to {self._topic}: {self._failure}")

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._note(error)

    def _note(self, error: KafkaError) -> None:
        self._failed_count += 1
        self._failure = describe(error)


def source_producer_settings(settings: Mapping[str, str | int | float | bool]) -> dict[str, Any]:
    """The settings of a producer of a source topic: idempotent, and hashing keys as the Java client does.

    Args:
        settings: The user's own.
    """
    user = {name: value for name, value in for_producer(settings).items() if name not in _NOT_FOR_IT}
    return {
        "linger.ms": 5,
        **user,
        "message.max.bytes": CLIENT_RECORD_BYTES_MAX,  # what the topic takes is the broker's to say
        "enable.idempotence": True,
        "acks": "all",
        "partitioner": "murmur2_random",
    }
