"""The lines that the harness and a kit in another process exchange: JSON objects, one a line.

The README of this folder is the protocol's documentation. Nothing here starts or waits for a process.

Spec: The founding decision: two implementations, one corpus
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from conformance.compare import shorten
from conformance.kits import KitFault
from conformance.vectors import Vector

PROTOCOL: Final = 1
"""The version of these lines; it changes when an old kit could not answer new ones."""

HELLO: Final = b'{"op":"hello","protocol":1}\n'

LINE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of one answer; the longest that a kit has reason to give is a hundredth of it."""


@dataclass(frozen=True, slots=True)
class Hello:
    """How a kit answers the first line.

    Attributes:
        kit: its name.
        version: its version.
        ops: the operations it implements.
    """

    kit: str
    version: str
    ops: tuple[str, ...]


class ProtocolFault(KitFault):
    """What came is no answer to what was asked; the exchange cannot go on."""


def write_request(vector: Vector) -> bytes:
    """Write a case as one line of ASCII; lone surrogates stay escapes, numbers keep Python's shortest spelling."""
    request = {"id": vector.id, "op": vector.op, "input": vector.input}
    return json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_hello(line: bytes) -> Hello:
    """Read the answer to the first line.

    Raises:
        ProtocolFault: it is another one.
    """
    members = _read_object(line)
    if members.get("protocol") != PROTOCOL or isinstance(members.get("protocol"), bool):
        raise ProtocolFault(f"hello: expected protocol {PROTOCOL}, got {shorten(members.get('protocol'), 60)}")
    kit, version, ops = members.get("kit"), members.get("version"), members.get("ops")
    if not isinstance(kit, str) or not isinstance(version, str):
        raise ProtocolFault("hello: expected the texts kit and version, got none")
    if not isinstance(ops, list) or not all(isinstance(op, str) for op in ops):
        raise ProtocolFault("hello: expected ops, an array of texts, got another value")
    return Hello(kit, version, tuple(ops))


def read_verdict(line: bytes, vector: Vector) -> dict[str, Any]:
    """Read the answer to a case.

    Raises:
        ProtocolFault: it is no answer, or one to another case.
        KitFault: the kit says that it has no verdict.
    """
    members = _read_object(line)
    if members.get("id") != vector.id:
        raise ProtocolFault(f"id: expected the case's own, got {shorten(members.get('id'), 60)}")
    if "error" in members:
        raise KitFault(f"the kit says: {shorten(members['error'])}")
    verdict = members.get("verdict")
    if not isinstance(verdict, dict):
        raise ProtocolFault(f"verdict: expected an object, got {shorten(verdict, 60)}")
    return verdict


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        members = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise ProtocolFault(
            f"expected one JSON object on a line, got {shorten(line.decode(errors='replace'), 80)}"
        ) from None
    if not isinstance(members, dict):
        raise ProtocolFault(f"expected one JSON object on a line, got {shorten(members, 80)}")
    return members
