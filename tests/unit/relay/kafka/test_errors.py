"""The client's errors, sorted into what the relay does about them."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from relay.errors import Fatal, Fenced, OutcomeUnknown, RelayError, TransactionAborted
from relay.kafka.errors import describe, kafka_error, sort_consumer, sort_transactional


def error_of(code: int, *, fatal: bool = False, retriable: bool = False, abort: bool = False) -> KafkaError:
    """A client's error."""
    return KafkaError(code, "why", fatal, retriable, abort)


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (error_of(KafkaError._FENCED, fatal=True), Fenced),  # noqa: SLF001 - the client's public constants begin so
        (error_of(KafkaError.PRODUCER_FENCED), Fenced),
        (error_of(KafkaError.INVALID_PRODUCER_EPOCH), Fenced),
        (error_of(KafkaError.FENCED_INSTANCE_ID, abort=True), Fenced),
        (error_of(KafkaError.TOPIC_AUTHORIZATION_FAILED, abort=True), Fatal),
        (error_of(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), Fatal),
        (error_of(KafkaError.UNKNOWN, fatal=True), Fatal),
        (error_of(KafkaError.ILLEGAL_GENERATION, abort=True), TransactionAborted),
        (error_of(KafkaError.UNKNOWN_MEMBER_ID, abort=True), TransactionAborted),
        (error_of(KafkaError.MSG_SIZE_TOO_LARGE, abort=True), TransactionAborted),
        (error_of(KafkaError._TIMED_OUT, retriable=True), OutcomeUnknown),  # noqa: SLF001 - as above
        (error_of(KafkaError._TRANSPORT), OutcomeUnknown),  # noqa: SLF001 - as above
        (error_of(KafkaError._STATE), OutcomeUnknown),  # noqa: SLF001 - as above
        (error_of(KafkaError.UNKNOWN), OutcomeUnknown),
    ],
)
def test_transactional_errors_are_sorted(error: KafkaError, meaning: type[RelayError]) -> None:
    """A fence or a fatal error ends the process; what can be aborted is; anything else leaves the end in doubt."""
    sorted_error = sort_transactional(error, "commit_transaction")
    assert type(sorted_error) is meaning
    assert str(sorted_error) == f"commit_transaction: {error.name()}: why"


def test_a_hidden_fence_is_a_fence() -> None:
    """A consumer that was fenced by its instance id reports a fatal error whose text alone names the reason."""
    hidden = KafkaError(KafkaError._FATAL, "Static member fenced by other", True)  # noqa: SLF001, FBT003 - the client's own signature
    assert type(sort_consumer(hidden)) is Fenced
    assert type(sort_transactional(hidden, "x")) is Fenced


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (error_of(KafkaError.FENCED_INSTANCE_ID), Fenced),
        (error_of(KafkaError._FATAL, fatal=True), Fatal),  # noqa: SLF001 - the client's public constants begin so
        (error_of(KafkaError.GROUP_AUTHORIZATION_FAILED), Fatal),
        (error_of(KafkaError._AUTHENTICATION), Fatal),  # noqa: SLF001 - as above
        (error_of(KafkaError._ALL_BROKERS_DOWN), type(None)),  # noqa: SLF001 - as above
        (error_of(KafkaError._TIMED_OUT), type(None)),  # noqa: SLF001 - as above
    ],
)
def test_consumer_errors_are_sorted(error: KafkaError, meaning: type) -> None:
    """A fence and what is fatal end the process; the client mends the rest by itself."""
    assert type(sort_consumer(error)) is meaning


def test_an_exception_is_opened() -> None:
    """The error inside the client's exception is taken out; one without any is unknown."""
    error = error_of(KafkaError.ILLEGAL_GENERATION)
    assert kafka_error(KafkaException(error)) is error
    assert kafka_error(KafkaException()).code() == KafkaError.UNKNOWN
    assert describe(error) == "ILLEGAL_GENERATION: why"
