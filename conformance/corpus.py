"""Reads the captured corpus: fixtures, where each comes from, and the cases that follow from it.

It must never ask an implementation what a fixture means: what is wanted is the fixture's own text without its
whitespace, and the digest of the bytes that were on the wire says that this is what was captured.

Spec: The founding decision: two implementations, one corpus
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from conformance.json_text import compact, turn_round
from conformance.vectors import Vector, VectorFileError

SUMS_NAME: Final = "SHA256SUMS"
_EVENTS: Final = "events"
_CAPTURES: Final = "captures"


def is_corpus(path: Path) -> bool:
    """Say whether a path is a captured corpus.

    Spec: The founding decision: two implementations, one corpus
    """
    return (path / _EVENTS).is_dir() or (path / _CAPTURES).is_dir()


def read_corpus(path: Path) -> Iterator[Vector]:
    """Give the cases of every fixture, sorted.

    Args:
        path: the corpus: `events/<type>/<variant>.json`, `captures/<capture>.json`.

    Yields:
        Four cases a fixture: the stored text, the same without whitespace, and the same with every object turned round,
        each to be accepted with the bytes that were captured; and its payload, which is valid.

    Raises:
        VectorFileError: a fixture has no provenance or two, is not what was captured, or does not exist.

    Spec: The founding decision: two implementations, one corpus
    """
    digests = _read_provenance(path)
    fixtures = sorted((path / _EVENTS).rglob("*.json"))
    if not fixtures:
        raise VectorFileError(f"{path}: expected fixtures below {_EVENTS}, got none")
    names = {fixture.relative_to(path / _EVENTS).as_posix(): fixture for fixture in fixtures}
    for name in sorted(names.keys() ^ digests.keys()):
        has, lacks = ("a provenance", "a fixture") if name in digests else ("a fixture", "a provenance")
        raise VectorFileError(f"{path}/{_EVENTS}/{name}: expected {lacks}, got {has} alone")
    for name, fixture in names.items():
        yield from _read_fixture(name, fixture, digests[name])


def _read_provenance(path: Path) -> dict[str, str]:
    """The digest of the wire's bytes of every fixture that a capture declares."""
    digests: dict[str, str] = {}
    for capture in sorted((path / _CAPTURES).glob("*.json")):
        for name, digest in _read_capture(capture):
            if name in digests:
                raise VectorFileError(f"{capture}: expected each fixture once, got {name} again")
            digests[name] = digest
    return digests


def _read_capture(capture: Path) -> list[tuple[str, str]]:
    try:
        return [(event["fixture"], event["wireSha256"]) for event in json.loads(capture.read_bytes())["events"]]
    except (ValueError, KeyError, TypeError) as error:
        raise VectorFileError(f"{capture}: expected a capture in JSON, got a fault: {error!r}") from None


def _read_fixture(name: str, fixture: Path, digest: str) -> Iterator[Vector]:
    text = fixture.read_text(encoding="utf-8")
    wire = compact(text)
    if hashlib.sha256(wire.encode()).hexdigest() != digest:
        raise VectorFileError(f"{fixture}: expected the bytes that were captured, got others")
    stem = f"v1/{name.removesuffix('.json')}"
    place = str(fixture)
    accepted: dict[str, Any] = {"accept": True, "canonical": wire}
    yield Vector(place, f"{stem}/stored", "parse", {"raw": text}, accepted)
    yield Vector(place, f"{stem}/compact", "parse", {"raw": wire}, accepted)
    yield Vector(place, f"{stem}/turned-round", "parse", {"raw": turn_round(wire)}, accepted)
    event = json.loads(wire)
    yield Vector(place, f"{stem}/valid", "validate", {"type": event["type"], "payload": event["payload"]}, {"ok": True})
