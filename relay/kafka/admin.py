"""Questions to the cluster that are neither reading nor writing: ends of logs, topics, settings, group members."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import ConsumerGroupState, IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as ClientTopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public names, but its stub does not re-export them
    AdminClient,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
    TopicDescription,
)

from relay.errors import Fatal, NotAnswered, StartUpError
from relay.kafka.errors import describe, kafka_error
from relay.records import TopicPartition

_Answer = TypeVar("_Answer")
_LATEST: Final = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # the client leaves it untyped
_EARLIEST: Final = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # as above
_GROUP_GONE: Final = (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD)


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """What the cluster says of one topic."""

    name: str
    topic_id: str
    partition_count: int
    replication_factor: int
    settings: dict[str, str]
    operations: frozenset[str] | None = None
    """What this client may do with it (`READ`, `WRITE`, …); None where the cluster does not say."""

    def number(self, setting: str, default: int) -> int:
        """A numeric setting."""
        return int(self.settings.get(setting, default))


class Admin:
    """The admin client, with every wait bounded.

    Args:
        settings: The client's settings.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        try:
            self._client = AdminClient(settings)
        except KafkaException as exception:
            raise Fatal(f"admin client: {describe(kafka_error(exception))}") from exception

    def log_ends(self, topic: str, partitions: Iterable[int], timeout_s: float) -> dict[int, int]:
        """The ends of logs, past what is still in a transaction.

        Args:
            topic: The topic.
            partitions: Partition numbers.
            timeout_s: The bound, seconds.

        Returns:
            Partition number to the offset that the next record will take (read uncommitted).

        Raises:
            NotAnswered: Not all of them were answered in time.
        """
        ends = self.ends_of([TopicPartition(topic, number) for number in partitions], timeout_s)
        return {entry.partition: end for entry, end in ends.items()}

    def ends_of(self, partitions: Iterable[TopicPartition], timeout_s: float) -> dict[TopicPartition, int]:
        """The ends of logs of several topics, past what is still in a transaction. Raises `NotAnswered`."""
        asked = {ClientTopicPartition(*entry): _LATEST for entry in partitions}
        answers = self._ask(
            lambda: self._client.list_offsets(
                asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=timeout_s
            ),
            timeout_s,
        )
        return {TopicPartition(entry.topic, entry.partition): info.offset for entry, info in answers.items()}

    def log_starts(self, partitions: Iterable[TopicPartition], timeout_s: float) -> dict[TopicPartition, int]:
        """The first offsets that are still there. Raises `NotAnswered`."""
        asked = {ClientTopicPartition(*entry): _EARLIEST for entry in partitions}
        answers = self._ask(lambda: self._client.list_offsets(asked, request_timeout=timeout_s), timeout_s)
        return {TopicPartition(entry.topic, entry.partition): info.offset for entry, info in answers.items()}

    def topic_facts(self, topics: Iterable[str], timeout_s: float) -> dict[str, TopicFacts | None]:
        """Describe topics.

        Args:
            topics: Their names.
            timeout_s: The bound, seconds.

        Returns:
            Name to facts, or None for a topic that does not exist.

        Raises:
            NotAnswered: The cluster did not answer in time.
            StartUpError: The relay may not describe one of them.
        """
        names = sorted(set(topics))
        asked = self._client.describe_topics(
            TopicCollection(names), request_timeout=timeout_s, include_authorized_operations=True
        )
        described = self._each(asked, timeout_s)
        there = [name for name in names if not _missing(described[name])]
        self._fail_on_rights(described, "describe")
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in there]
        settings = (
            self._each(self._client.describe_configs(resources, request_timeout=timeout_s), timeout_s) if there else {}
        )
        by_name = {resource.name: answer for resource, answer in settings.items()}
        self._fail_on_rights(by_name, "describe the settings of")
        return {name: _facts(name, described[name], by_name[name]) if name in by_name else None for name in names}

    def topic_ids(self, topics: Iterable[str], timeout_s: float) -> dict[str, tuple[str, int]]:
        """Topic name to its id and partition count; missing topics are left out. Raises `NotAnswered`."""
        names = sorted(set(topics))
        described = self._each(
            self._client.describe_topics(TopicCollection(names), request_timeout=timeout_s), timeout_s
        )
        return {
            name: (str(answer.topic_id), len(answer.partitions))
            for name, answer in described.items()
            if not isinstance(answer, KafkaError)
        }

    def create(self, topics: Iterable[NewTopic], timeout_s: float) -> dict[str, str]:
        """Create topics.

        Returns:
            Name to what went wrong, for those that could not be created.
        """
        answers = self._each(self._client.create_topics(list(topics), operation_timeout=timeout_s), timeout_s + 5)
        return {name: describe(answer) for name, answer in answers.items() if isinstance(answer, KafkaError)}

    def group_instances(self, group: str, timeout_s: float) -> set[str] | None:
        """The group instance ids of a group's members, None where the group is rebalancing. Raises `NotAnswered`."""
        answers = self._ask(
            lambda: self._client.describe_consumer_groups([group], request_timeout=timeout_s), timeout_s
        )
        description = answers[group]
        if description.state in _GROUP_GONE:
            return set()
        if description.state is not ConsumerGroupState.STABLE:
            return None
        return {member.group_instance_id for member in description.members if member.group_instance_id}

    def _ask(self, ask: Callable[[], dict[Any, Future[_Answer]]], timeout_s: float) -> dict[Any, _Answer]:
        """Ask and wait for every answer.

        Raises:
            NotAnswered: One of them is an error or did not come in time.
        """
        answers = self._each(ask(), timeout_s)
        for answer in answers.values():
            if isinstance(answer, KafkaError):
                raise NotAnswered(describe(answer))
        return answers

    @staticmethod
    def _each(futures: dict[Any, Future[Any]], timeout_s: float) -> dict[Any, Any]:
        """Wait for answers; an error of the cluster stands in an answer's place."""
        answers: dict[Any, Any] = {}
        for asked, future in futures.items():
            try:
                answers[asked] = future.result(timeout_s)
            except KafkaException as exception:
                error = kafka_error(exception)
                if error.code() in _SILENCE:
                    raise NotAnswered(describe(error)) from exception
                answers[asked] = error
            except TimeoutError as exception:
                raise NotAnswered(f"no answer within {timeout_s:g} s") from exception
        return answers

    @staticmethod
    def _fail_on_rights(answers: dict[str, Any], verb: str) -> None:
        faults = [
            f"{name}: expected the right to {verb} the topic, got {describe(answer)}"
            for name, answer in answers.items()
            if isinstance(answer, KafkaError) and not _missing(answer)
        ]
        if faults:
            raise StartUpError(faults)


_SILENCE: Final = frozenset(
    {
        KafkaError._TIMED_OUT,  # noqa: SLF001 - the client's public constants begin so
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
    }
)
"""Errors that pass: asked again, the cluster may answer."""


def _missing(answer: object) -> bool:
    return isinstance(answer, KafkaError) and answer.code() in (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - the client's public constants begin so
    )


def _facts(name: str, description: TopicDescription, settings: Mapping[str, ConfigEntry]) -> TopicFacts:
    return TopicFacts(
        name=name,
        topic_id=str(description.topic_id),
        partition_count=len(description.partitions),
        replication_factor=min((len(partition.replicas) for partition in description.partitions), default=0),
        settings={key: entry.value for key, entry in settings.items() if entry.value is not None},
        operations=_operations(description),
    )


def _operations(description: TopicDescription) -> frozenset[str] | None:
    operations = description.authorized_operations
    return None if not operations else frozenset(operation.name for operation in operations)
