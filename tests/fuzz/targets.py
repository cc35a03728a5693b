"""What is fuzzed: each target takes bytes, returns where the kit keeps its promises, and raises where it does not.

No target needs the fuzzer: any can be called on any bytes, which is how a finding is replayed.
"""

import json
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import ethogram
from ethogram import ParseError
from ethogram import canonical as canonical_module
from ethogram.canonical import serialise_value
from tests.fuzz import checks
from tests.fuzz.building import build_members, build_tail, mutate
from tests.fuzz.checks import expect
from tests.fuzz.choices import Choices
from tests.fuzz.sink_model import run_series
from tests.property import naive_writer
from tests.property.spelling import spell

_REPEATS_MAX: Final = 20_000


def parse(data: bytes) -> None:
    """Bytes as an event's document: read alike by every way in, and by the slow reader, and written back the same."""
    checks.check_document(data)


def validate(data: bytes) -> None:
    """A type, a line feed, and JSON in Python's own loose reading: NaN, lone surrogates and huge integers included.

    `{"$repeat": [text, count]}` stands for a long text, since the bounds lie beyond the longest input.
    """
    event_type, _, text = data.partition(b"\n")
    try:
        value = json.loads(text.decode("utf-8", "surrogatepass"), object_hook=_expand)
    except (ValueError, RecursionError):
        return
    checks.check_payload(event_type.decode("utf-8", "replace"), value)


def _expand(value: dict[str, Any]) -> Any:  # noqa: ANN401 - a text, or the object as it is
    match value:
        case {"$repeat": [str() as repeated, int() as count]} if len(value) == 1 and 0 <= count <= _REPEATS_MAX:
            return repeated[:2] * count
        case {"$concat": list() as parts} if len(value) == 1 and all(isinstance(part, str) for part in parts):
            return "".join(parts)
    return value


def structured(data: bytes) -> None:
    """An event of the vocabulary with up to two mutations, in some spelling, as a document and as a payload."""
    choices = Choices(data)
    members = build_members(choices)
    mutate(members, choices)
    text = spell(members, random.Random(choices.wide())).rstrip()
    checks.check_document((text[:-1] + build_tail(choices) + "}").encode())
    if "payload" in members and isinstance(members.get("type"), str):
        checks.check_payload(members["type"], members["payload"])


def canonical(data: bytes) -> None:
    """A value, written as the naive writer writes it, whichever way it takes and however it was spelled."""
    choices = Choices(data)
    value = [choices.value() for _ in range(1 + choices.below(6))]
    wanted = naive_writer.write_value(value)
    expect(serialise_value(value) == wanted, "the canonical form is the naive writer's")
    expect(canonical_module._write_exactly(value) == wanted, "the exact writer agrees")  # noqa: SLF001 - held apart
    expect(serialise_value(json.loads(wanted)) == wanted, "the canonical form is its own")
    document = '{"v":1,"type":"x","runId":"r","seq":1,"ts":"t","payload":%s}'
    spelled = document % spell(value, random.Random(choices.wide()))
    try:
        event = ethogram.parse_event(spelled)
    except ParseError as error:
        expect(error.stage == "payload" and _has_unsafe(value), "only unsafe numbers are refused")
        return
    expect(ethogram.serialise_event(event) == (document % wanted.decode()).encode(), "no spelling reaches the form")


def _has_unsafe(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return any(map(_has_unsafe, value.values()))
    if isinstance(value, list):
        return any(map(_has_unsafe, value))
    return isinstance(value, int | float) and abs(value) > ethogram.MAX_SAFE_INTEGER


def excerpt(data: bytes) -> None:
    """A bound and a text with lone surrogates in it, against cutting a list of scalars."""
    scalars_max = data[0] if data else 0
    other_max = data[1] if len(data) > 1 else 0
    points = (int.from_bytes(data[at : at + 3], "big") % 0x110000 for at in range(2, len(data), 3))
    text = "".join(map(chr, points)) + data[2:].decode("utf-8", "surrogateescape")
    scalars = ["\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text]
    kept = ethogram.excerpt(text, scalars_max)
    expect(kept.text == "".join(scalars[:scalars_max]), "the first scalars are kept, whole")
    expect(kept.truncated is (len(scalars) > scalars_max), "the flag says whether anything was cut")
    expect(len(kept.text.encode().decode("utf-8")) <= scalars_max, "the excerpt fits its bound in UTF-8")
    again = ethogram.excerpt(kept.text, other_max)
    expect(again.text == ethogram.excerpt(text, min(scalars_max, other_max)).text, "two cuts are the tighter one")


def sink(data: bytes) -> None:
    """A series of drafts and events on a sink in memory, against a model of gapless runs."""
    run_series(Choices(data))


TARGETS: Mapping[str, Callable[[bytes], None]] = MappingProxyType(
    {
        "parse": parse,
        "structured": structured,
        "validate": validate,
        "canonical": canonical,
        "excerpt": excerpt,
        "sink": sink,
    }
)
"""Every target by its name."""
