"""The measure of a record against a real encoding of record batches (message format 2)."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from relay.records import Header, record_batch_bytes

sizes = st.integers(0, 70) | st.sampled_from([127, 128, 8191, 8192, 16_384, 70_000])
parts = st.none() | sizes.map(lambda size: b"x" * size)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | sizes.map(lambda size: "é" * size)
header_lists = st.none() | st.lists(st.tuples(names, parts), max_size=70)


def varint(value: int) -> bytes:
    """A zigzag variable-length integer."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def counted(part: bytes | None) -> bytes:
    """A part behind its length, -1 being none."""
    return varint(-1) if part is None else varint(len(part)) + part


def encode_batch(key: bytes | None, value: bytes | None, headers: list[Header] | None) -> bytes:
    """A record batch of one record, as Kafka's protocol guide lays it out; the checksum is left at 0."""
    body = struct.pack(">b", 0) + varint(0) + varint(0) + counted(key) + counted(value)
    body += varint(len(headers or []))
    for name, content in headers or []:
        body += counted(name.encode()) + counted(content)
    record = varint(len(body)) + body
    after_length = struct.pack(">ibIhiqqqhii", 0, 2, 0, 0, 0, 0, 0, -1, -1, -1, 1) + record
    return struct.pack(">qi", 0, len(after_length)) + after_length


@given(parts, parts, header_lists)
def test_a_record_is_measured_as_it_is_encoded(
    key: bytes | None, value: bytes | None, headers: list[Header] | None
) -> None:
    """The measure of a record equals the length of its encoding, to the byte."""
    assert record_batch_bytes(key, value, headers) == len(encode_batch(key, value, headers))
