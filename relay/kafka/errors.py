"""The client's errors sorted into what the relay does about them; nothing else inspects error codes."""

from typing import Final

from confluent_kafka import KafkaError, KafkaException

from relay.errors import Fatal, Fenced, OutcomeUnknown, RelayError, TransactionAborted

_FATAL: Final = KafkaError._FATAL  # noqa: SLF001 - the client's public constants begin so
_FENCED: Final = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001 - the client's public constants begin so
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
    }
)
_RIGHTS: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError._AUTHENTICATION,  # noqa: SLF001 - the client's public constants begin so
    }
)


def kafka_error(exception: KafkaException) -> KafkaError:
    """The client's error inside its exception."""
    error = exception.args[0] if exception.args else None
    return error if isinstance(error, KafkaError) else KafkaError(KafkaError.UNKNOWN)


def describe(error: KafkaError) -> str:
    """A client's error for a log line: its name and text, which hold names and addresses, never record content."""
    return f"{error.name()}: {error.str()}"


def is_fatal(error: KafkaError) -> bool:
    """Whether a client is dead, by an error that may not say of what."""
    return error.fatal() or error.code() == _FATAL


def is_static_fence(error: KafkaError) -> bool:
    """Whether a consumer's error says that another process has this group instance id.

    The client hides the broker's code behind `_FATAL`; only the text names the reason (tried with 2.16).
    """
    fatal = error.code() == _FATAL
    return error.code() == KafkaError.FENCED_INSTANCE_ID or (fatal and "fenced" in error.str().lower())


def sort_transactional(error: KafkaError, step: str) -> RelayError:
    """Say what a failed transactional call means.

    Args:
        error: The client's error.
        step: Which call it was, for the message.

    Returns:
        `Fenced`, `Fatal`, `TransactionAborted` (the caller aborts) or `OutcomeUnknown` (the producer must go).
    """
    text = f"{step}: {describe(error)}"
    if error.code() in _FENCED or is_static_fence(error):
        return Fenced(text)
    if error.fatal() or error.code() in _RIGHTS:
        return Fatal(text)
    if error.txn_requires_abort():
        return TransactionAborted(text)
    return OutcomeUnknown(text)  # a time-out, a lost connection, anything else: nobody knows what became of it


def sort_consumer(error: KafkaError) -> RelayError | None:
    """Say what an error that the consumer reported means; None for what the client mends by itself."""
    if is_static_fence(error):
        return Fenced(describe(error))
    if is_fatal(error) or error.code() in _RIGHTS:
        return Fatal(describe(error))
    return None
