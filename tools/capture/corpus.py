"""Writes captures into the corpus. What has landed is never changed and never removed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from conformance.corpus import SUMS_NAME
from conformance.json_text import compact, indent
from ethogram import parse_event, serialise_event
from tools.capture.variants import variant_of


class CaptureFault(Exception):
    """A capture is not as it was declared; the text says what is missing or too much."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What one command was seen to emit.

    Attributes:
        name: of the capture.
        emitter: `recorder` or `relay`.
        command: as a user would type it.
        how: in which circumstances, in a sentence.
        versions: of what took part.
        emitted: the wire's bytes by name of their variant, `run.started/session`.
    """

    name: str
    emitter: str
    command: Sequence[str]
    how: str
    versions: Mapping[str, str]
    emitted: Mapping[str, bytes] = field(default_factory=dict)


_EVENTS: Final = "events"
_CAPTURES: Final = "captures"


def landed_variants(root: Path) -> dict[str, str]:
    """Give the name of every variant that the corpus holds, by its description.

    Raises:
        CaptureFault: two fixtures are of one variant.
    """
    found: dict[str, str] = {}
    for path in sorted((root / _EVENTS).rglob("*.json")):
        name = path.relative_to(root / _EVENTS).with_suffix("").as_posix()
        variant = variant_of(parse_event(path.read_bytes()))
        if variant in found:
            raise CaptureFault(f"{name}: expected a variant of its own, got that of {found[variant]}")
        found[variant] = name
    return found


def add(root: Path, captures: Sequence[Capture], date: str) -> list[str]:
    """Add what is new to the corpus.

    Args:
        root: the corpus; made where there is none.
        captures: what was captured; a variant that has landed is passed over.
        date: when, ISO-8601.

    Returns:
        The names of the fixtures that were written.

    Raises:
        CaptureFault: an event is not canonical, a name is taken by another variant, or a capture's name is taken.
    """
    landed = landed_variants(root)
    written = []
    for capture in captures:
        new = {name: wire for name, wire in capture.emitted.items() if _is_new(name, wire, landed)}
        if new:
            _write_capture(root, capture, new, date)
            written += list(new)
    _write_sums(root)
    return written


def _is_new(name: str, wire: bytes, landed: dict[str, str]) -> bool:
    event = parse_event(wire)
    if serialise_event(event) != wire or compact(indent(wire.decode())).encode() != wire:
        raise CaptureFault(f"{name}: expected canonical bytes, got others")
    variant = variant_of(event)
    if variant in landed:
        if landed[variant] != name:
            raise CaptureFault(f"{name}: expected a variant of its own, got that of {landed[variant]}")
        return False
    if name in landed.values():
        raise CaptureFault(f"{name}: expected the variant that has landed under this name, got another: {variant}")
    landed[variant] = name
    return True


def _write_capture(root: Path, capture: Capture, new: Mapping[str, bytes], date: str) -> None:
    declared = []
    for name, wire in new.items():
        path = root / _EVENTS / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:  # Never over one that has landed.
            file.write(indent(wire.decode()))
        digest = hashlib.sha256(wire).hexdigest()
        declared.append({"fixture": f"{name}.json", "wireSha256": digest, "wireBytes": len(wire)})
    provenance = {
        "capture": capture.name,
        "date": date,
        "emitter": capture.emitter,
        "command": list(capture.command),
        "how": capture.how,
        "versions": dict(capture.versions),
        "events": declared,
    }
    path = root / _CAPTURES / f"{capture.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(provenance, ensure_ascii=False, indent=2) + "\n")
    except FileExistsError:
        raise CaptureFault(f"{capture.name}: expected a new capture, got the name of one that has landed") from None


def _write_sums(root: Path) -> None:
    files = sorted(path for path in root.rglob("*.json"))
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root).as_posix()}\n" for path in files
    ]
    (root / SUMS_NAME).write_text("".join(lines), encoding="utf-8")
