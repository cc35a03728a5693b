"""The Avro values of the relay's own topics."""

import io
from collections.abc import Callable
from typing import Any

import fastavro
import pytest

from relay.codec import (
    CodecError,
    Quarantined,
    RelayRun,
    SourcePosition,
    changelog_subject,
    decode_quarantined,
    decode_relay_run,
    decode_run_state,
    decode_source_position,
    encode_quarantined,
    encode_relay_run,
    encode_run_state,
    encode_source_position,
    run_key,
    source_key,
)
from relay.judge.run_state import RunState
from relay.records import SourceRecord

STATE = RunState(2**53, finished=True, source="chreode.events", changed_ms=1_764_577_800_125)
POSITION = SourcePosition(2**40, "aGVsbG8", "Z3V0ZW4")
RUN = RelayRun("ethogram-relay/i/1", 7, 1_764_577_800_125)
RECORD = SourceRecord("a", 3, 2**33, -1, b"k\xff", b"\x00\xff", [("h", None), ("h", b""), ("ü", b"\xff")])
REFUSED = Quarantined(RECORD, "gap", "r" * 5000, "ethogram-relay/i/1", 9, 1)

Pair = tuple[Any, Callable[[Any], bytes], Callable[[bytes], Any]]
PAIRS: list[Pair] = [
    (STATE, encode_run_state, decode_run_state),
    (POSITION, encode_source_position, decode_source_position),
    (RUN, encode_relay_run, decode_relay_run),
    (REFUSED, encode_quarantined, decode_quarantined),
]


@pytest.mark.parametrize(("value", "encode", "decode"), PAIRS)
def test_values_round_trip(value: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> None:  # noqa: ANN401 - any of the four
    """Every value comes back as it was written."""
    assert decode(encode(value)) == value


def test_a_quarantined_tombstone_round_trips() -> None:
    """A refused record without key, value and headers is kept so; no headers and an empty list are one."""
    bare = Quarantined(SourceRecord("a", 0, 0, 0, None, None, None), "malformed", "", "x", 1, 0)
    assert decode_quarantined(encode_quarantined(bare)).record == SourceRecord("a", 0, 0, 0, None, None, [])


@pytest.mark.parametrize(("value", "encode", "decode"), PAIRS)
def test_cut_values_are_refused(value: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> None:  # noqa: ANN401 - any of the four
    """A value cut at any byte, or with a byte more, raises CodecError and nothing else."""
    whole = encode(value)
    for length in range(min(200, len(whole))):
        with pytest.raises(CodecError):
            decode(whole[:length])
    with pytest.raises(CodecError, match="more bytes"):
        decode(whole + b"\0")


def test_foreign_values_are_refused() -> None:
    """A value of another schema, or of none, raises CodecError that names both fingerprints."""
    with pytest.raises(CodecError, match="run_state: expected schema fingerprint"):
        decode_run_state(encode_source_position(POSITION))
    for foreign in (b"", b"{}", b"\xc3\x01" + b"\0" * 8, b"\xff" * 64):
        with pytest.raises(CodecError):
            decode_run_state(foreign)


def crc_64_avro(text: bytes) -> int:
    """CRC-64-AVRO as the Avro specification gives it."""
    empty = 0xC15D213AA4D7A795
    table = []
    for byte in range(256):
        entry = byte
        for _bit in range(8):
            entry = (entry >> 1) ^ (empty if entry & 1 else 0)
        table.append(entry)
    digest = empty
    for byte in text:
        digest = (digest >> 8) ^ table[(digest ^ byte) & 0xFF]
    return digest


def test_the_fingerprint_is_little_endian_crc_64_avro() -> None:
    """A value begins with C3 01 and the CRC-64-AVRO of the schema's canonical form, lowest byte first."""
    canonical = (
        '{"name":"ethogram.relay.v1.SourcePosition","type":"record","fields":'
        '[{"name":"next_offset","type":"long"},{"name":"topic_id","type":"string"},'
        '{"name":"changelog_id","type":"string"}]}'
    )
    assert crc_64_avro(b'"null"') == 0x63DD24E7CC258F8A, "the specification's own example"
    header = b"\xc3\x01" + crc_64_avro(canonical.encode()).to_bytes(8, "little")
    assert encode_source_position(SourcePosition(1, "x", "y")) == header + b"\x02\x02x\x02y"


def test_another_reader_of_avro_understands_the_body() -> None:
    """What follows the ten bytes of the header is a plain Avro body of the published schema."""
    schema = {
        "type": "record",
        "name": "RelayRun",
        "fields": [
            {"name": "run_id", "type": "string"},
            {"name": "next_seq", "type": "long"},
            {"name": "started_ms", "type": "long"},
        ],
    }

    body = io.BytesIO(encode_relay_run(RUN)[10:])
    assert fastavro.schemaless_reader(body, fastavro.parse_schema(schema), None) == {
        "run_id": "ethogram-relay/i/1",
        "next_seq": 7,
        "started_ms": 1_764_577_800_125,
    }


def test_changelog_keys_name_their_subject() -> None:
    """A changelog key says whether it is a run or a source, whatever the name holds."""
    assert run_key("é:run:x") == b"run:\xc3\xa9:run:x"
    assert changelog_subject(run_key("source:é")) == ("run", "source:é")
    assert changelog_subject(source_key("run:a")) == ("source", "run:a")
    assert changelog_subject(b"run:") == ("run", "")


@pytest.mark.parametrize("key", [None, b"", b"other:x", b"ru", b"run:\xff", b"source:\xff"])
def test_foreign_changelog_keys_are_refused(key: bytes | None) -> None:
    """A key that is neither, or no UTF-8, raises CodecError."""
    with pytest.raises(CodecError, match="key: expected"):
        changelog_subject(key)
