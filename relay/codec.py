"""The Avro values of the relay's own topics: the schemas ship in the package, a fingerprint stands in every value.

A value is in Avro's single-object encoding: two marker bytes, the CRC-64-AVRO fingerprint of the writer's schema in
eight little-endian bytes, then the body. A value that cannot be read raises `CodecError`; the caller adds where it
stood.
"""

import io
import json
import zlib
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Final

import fastavro
import fastavro.schema

from relay.judge.run_state import RunState
from relay.records import Header, SourceRecord

_MARKER: Final = b"\xc3\x01"
_FINGERPRINT_BYTES: Final = 8


class CodecError(ValueError):
    """A value is not what this relay, or an older one, wrote."""


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """How far one source partition was consumed; written in the transaction that commits the same offset."""

    next_offset: int
    topic_id: str
    changelog_id: str


@dataclass(frozen=True, slots=True)
class RelayRun:
    """The open own run of one transactional identity."""

    run_id: str
    next_seq: int
    started_ms: int


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A refused record and where its refusal was published."""

    record: SourceRecord
    cause: str
    source_run_id: str
    relay_run_id: str
    relay_seq: int
    refused_ms: int


class _Schema:
    """One schema: encodes with itself, decodes with the schema that a value's fingerprint names."""

    def __init__(self, name: str) -> None:
        text = resources.files("relay").joinpath("schemas", f"{name}.avsc").read_text(encoding="utf-8")
        self.name = name
        self.parsed: Any = fastavro.parse_schema(json.loads(text))
        canonical = fastavro.schema.to_parsing_canonical_form(self.parsed)
        fingerprint = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
        self.header = _MARKER + bytes.fromhex(fingerprint)

    def encode(self, fields: dict[str, object]) -> bytes:
        """Write one value."""
        out = io.BytesIO()
        out.write(self.header)
        fastavro.schemaless_writer(out, self.parsed, fields)
        return out.getvalue()

    def decode(self, value: bytes) -> dict[str, Any]:
        """Read one value.

        Raises:
            CodecError: The value is not of this schema, is cut short, or has bytes after its end.
        """
        header_bytes = len(_MARKER) + _FINGERPRINT_BYTES
        if value[:header_bytes] != self.header:
            raise CodecError(
                f"{self.name}: expected schema fingerprint {self.header[2:].hex()}, got {value[2:header_bytes].hex()!r}"
            )
        body = io.BytesIO(value[header_bytes:])
        try:
            fields = fastavro.schemaless_reader(body, self.parsed, None)
        except Exception as error:
            raise CodecError(f"{self.name}: expected an Avro body, got {len(value)} unreadable bytes") from error
        if body.read(1):
            raise CodecError(f"{self.name}: expected the end of the value, got more bytes")
        if not isinstance(fields, dict):
            raise CodecError(f"{self.name}: expected a record")
        return fields


_RUN_STATE = _Schema("run_state")
_SOURCE_POSITION = _Schema("source_position")
_RELAY_RUN = _Schema("relay_run")
_QUARANTINED = _Schema("quarantined")

_RUN_KEY: Final = b"run:"
_SOURCE_KEY: Final = b"source:"


def run_key(run_id: str) -> bytes:
    """The changelog key of a run."""
    return _RUN_KEY + run_id.encode()


def source_key(topic: str) -> bytes:
    """The changelog key of a source topic's position."""
    return _SOURCE_KEY + topic.encode()


def changelog_subject(key: bytes | None) -> tuple[str, str]:
    """Read a changelog key.

    Returns:
        ("run", run id) or ("source", topic).

    Raises:
        CodecError: The key is neither.
    """
    for prefix, kind in ((_RUN_KEY, "run"), (_SOURCE_KEY, "source")):
        if key is not None and key.startswith(prefix):
            try:
                return kind, key[len(prefix) :].decode()
            except UnicodeDecodeError:
                break
    raise CodecError("key: expected 'run:' or 'source:' and a name in UTF-8")


def encode_run_state(state: RunState) -> bytes:
    """Write a run's state."""
    return _RUN_STATE.encode(state._asdict())


def decode_run_state(value: bytes) -> RunState:
    """Read a run's state. Raises `CodecError`."""
    return RunState(**_RUN_STATE.decode(value))


def encode_source_position(position: SourcePosition) -> bytes:
    """Write a source partition's position."""
    return _SOURCE_POSITION.encode(asdict(position))


def decode_source_position(value: bytes) -> SourcePosition:
    """Read a source partition's position. Raises `CodecError`."""
    return SourcePosition(**_SOURCE_POSITION.decode(value))


def encode_relay_run(run: RelayRun) -> bytes:
    """Write the open own run of an identity."""
    return _RELAY_RUN.encode(asdict(run))


def decode_relay_run(value: bytes) -> RelayRun:
    """Read the open own run of an identity. Raises `CodecError`."""
    return RelayRun(**_RELAY_RUN.decode(value))


def encode_quarantined(refused: Quarantined, *, compress: bool = False) -> bytes:
    """Write a refused record.

    Args:
        refused: The record and where its refusal was published.
        compress: Whether the value is compressed: a source that takes compressed batches may hold records that are
            larger, unpacked, than any topic takes.
    """
    fields: dict[str, object] = refused.record._asdict()
    fields["value_encoding"] = ""
    if compress and refused.record.value is not None:
        fields |= {"value": zlib.compress(refused.record.value), "value_encoding": "zlib"}
    fields["headers"] = [{"name": name, "value": value} for name, value in refused.record.headers or ()]
    fields.update(
        cause=refused.cause,
        source_run_id=refused.source_run_id,
        relay_run_id=refused.relay_run_id,
        relay_seq=refused.relay_seq,
        refused_ms=refused.refused_ms,
    )
    return _QUARANTINED.encode(fields)


def decode_quarantined(value: bytes) -> Quarantined:
    """Read a refused record. Raises `CodecError`."""
    fields = _QUARANTINED.decode(value)
    if fields.pop("value_encoding") == "zlib":
        try:
            fields["value"] = zlib.decompress(fields["value"])
        except (zlib.error, TypeError) as error:
            raise CodecError("quarantined: expected a value compressed by zlib, got other bytes") from error
    headers: list[Header] = [(header["name"], header["value"]) for header in fields.pop("headers")]
    record = SourceRecord(
        **{name: fields.pop(name) for name in SourceRecord._fields if name != "headers"}, headers=headers
    )
    return Quarantined(record, **fields)
