"""The plain values that travel between Kafka's edge and the core. No Kafka client is imported here."""

from typing import NamedTuple

Header = tuple[str, bytes | None]
"""One header of a record: its name and its value. Names may repeat, a value may be null or empty."""


class SourceRecord(NamedTuple):
    """One record as it was read from a source topic. A tuple, since one is made for every record."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    """The record's CreateTime in milliseconds since the epoch, or its LogAppendTime where the topic stamps that."""
    key: bytes | None
    value: bytes | None
    headers: list[Header] | None


class OutgoingRecord(NamedTuple):
    """One record to write, in the order of the client's `produce`, so that it can be passed positionally."""

    topic: str
    value: bytes | None
    key: bytes | None
    partition: int
    """A partition number, or `HASHED` for murmur2 of the key as the Java client computes it."""
    timestamp_ms: int
    """Milliseconds since the epoch; 0 lets the client take its own clock."""
    headers: list[Header] | None


HASHED = -1
"""The partition that asks the client to hash the key."""


class TopicPartition(NamedTuple):
    """A topic-partition."""

    topic: str
    partition: int


_VARINT_BITS = 7
_BATCH_OVERHEAD_BYTES = 61
"""A record batch's own header in message format 2."""


def _varint_bytes(value: int) -> int:
    """How many bytes zigzag variable-length coding takes for a length (0 or more)."""
    return max(1, (value * 2).bit_length() + _VARINT_BITS - 1) // _VARINT_BITS if value else 1


def record_batch_bytes(key: bytes | None, value: bytes | None, headers: list[Header] | None) -> int:
    """Measure the smallest uncompressed batch that holds one record, which is what a broker weighs.

    Args:
        key: The record's key, or None.
        value: The record's value, or None.
        headers: The record's headers, or None.

    Returns:
        Bytes of a record batch (message format 2) with this record alone in it.
    """
    body = 3  # attributes, timestamp delta and offset delta: a byte each, the record being the first of its batch
    for part in (key, value):
        body += 1 if part is None else _varint_bytes(len(part)) + len(part)
    body += _varint_bytes(len(headers or ()))
    for name, content in headers or ():
        name_bytes = len(name.encode())
        body += _varint_bytes(name_bytes) + name_bytes
        body += 1 if content is None else _varint_bytes(len(content)) + len(content)
    return _BATCH_OVERHEAD_BYTES + _varint_bytes(body) + body
