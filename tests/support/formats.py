"""The relay's stored formats, read without its code: Avro by the schemas that ship, and the Java client's hash."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import fastavro.schema

SCHEMAS = Path(__file__).resolve().parents[2] / "relay" / "schemas"
MARKER = b"\xc3\x01"
FINGERPRINT_END = 10


def avro(schema: str, value: bytes | None) -> dict[str, Any]:
    """Read a value in Avro's single-object encoding by one of the schemas that ship, checking its fingerprint."""
    parsed = fastavro.parse_schema(json.loads((SCHEMAS / f"{schema}.avsc").read_text(encoding="utf-8")))
    canonical = fastavro.schema.to_parsing_canonical_form(parsed)
    fingerprint = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))
    assert value is not None, f"{schema}: expected a value, got a tombstone"
    assert value[:FINGERPRINT_END] == MARKER + fingerprint, f"{schema}: unexpected fingerprint"
    body = BytesIO(value[FINGERPRINT_END:])
    fields = fastavro.schemaless_reader(body, parsed, None)
    assert isinstance(fields, dict)
    assert not body.read(), f"{schema}: bytes after the end of the value"
    return fields


def murmur2_partition(key: bytes, partitions: int) -> int:
    """The partition that the Java client chooses: MurmurHash2 over 32 bits, its sign bit taken away, modulo."""
    mask, magic = 0xFFFFFFFF, 0x5BD1E995
    digest = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * magic & mask
        digest = (digest * magic & mask) ^ ((word ^ word >> 24) * magic & mask)
    if key[whole:]:
        digest = (digest ^ int.from_bytes(key[whole:], "little")) * magic & mask
    digest = (digest ^ digest >> 13) * magic & mask
    return ((digest ^ digest >> 15) & 0x7FFFFFFF) % partitions
