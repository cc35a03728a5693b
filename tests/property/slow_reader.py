"""A second, slow reading of events by the rulings: what the kit's parser is held against.

It reads with the standard library's `json` and an ordered list of every object's members, and shares with the kit only
the vocabulary's tables. It knows where the rulings leave a choice, and says so: its verdict is one of three.
"""

import json
import re
from enum import Enum
from typing import Any, NamedTuple

from ethogram.vocabulary import VOCABULARY, Field, FieldKind

SAFE = 2**53 - 1
LEVELS_CERTAIN = 120
"""Levels of a payload that must be carried; beyond them a refusal is as good."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_MEMBERS = {"v": int, "type": str, "runId": str, "seq": int, "ts": str, "capturedAt": str}


class Verdict(Enum):
    """What a reader may do with a source."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    EITHER = "either"


class Reading(NamedTuple):
    """A verdict, and the event's members under their wire names where it may be accepted and could be read."""

    verdict: Verdict
    members: dict[str, Any] | None = None


class RefusedError(Exception):
    """A ruling refuses the source."""


REFUSED = Reading(Verdict.REFUSE)
EITHER = Reading(Verdict.EITHER)


class _Pairs(list[tuple[str, Any]]):
    """An object's members as they stand in the document, repeated names included."""


def read_document(source: bytes | str) -> Reading:
    """Judge a document by the rulings."""
    try:
        text = source.decode("utf-8") if isinstance(source, bytes) else source  # S06: UTF-8 and nothing else.
        text.encode("utf-8")
        root = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_refuse_constant)
    except RecursionError:
        return EITHER  # S07: deeper than this reader's stack.
    except (RefusedError, ValueError):
        return REFUSED
    if not isinstance(root, _Pairs) or len({name for name, _ in root}) != len(root):
        return REFUSED  # S01: a name given twice.
    try:
        _hold_strings_and_doubles(root)
        members = {name: _last_wins(value) for name, value in root}
    except RecursionError:
        return EITHER
    except RefusedError:
        return REFUSED
    return judge_members(members)


def judge_members(members: dict[str, Any]) -> Reading:
    """Judge an event that is given as its members: exact types, nothing that JSON does not have."""
    try:
        _hold_envelope(members)
        levels = measure_levels(members["payload"])
        _hold_numbers(members["payload"])
        if members["type"] in VOCABULARY:
            _hold_object(VOCABULARY[members["type"]].fields, members["payload"])
    except RefusedError:
        return REFUSED
    return Reading(Verdict.ACCEPT if levels <= LEVELS_CERTAIN else Verdict.EITHER, members)


def _refuse_constant(_name: str) -> object:
    raise RefusedError


def _hold_strings_and_doubles(root: object) -> None:
    """S03 and S05, of every part of the document, even of those that a repeated name hides."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, _Pairs):
            pending += [part for pair in value for part in pair]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str):
            _hold_text(value)
        elif isinstance(value, int | float):
            _hold_double(value)


def _hold_text(text: str) -> None:
    if _LONE_SURROGATE.search(text):
        raise RefusedError


def _hold_double(number: float) -> None:
    try:
        is_infinite = float(number) in (float("inf"), float("-inf"))
    except OverflowError:
        is_infinite = True
    if is_infinite:
        raise RefusedError


def _last_wins(root: Any) -> Any:  # noqa: ANN401 - any JSON value
    """S02: plain dicts and lists, the last member of a name kept."""
    if isinstance(root, _Pairs):
        return {name: _last_wins(value) for name, value in root}
    return [_last_wins(element) for element in root] if isinstance(root, list) else root


def _hold_envelope(members: dict[str, Any]) -> None:
    required = _MEMBERS.keys() - {"capturedAt"} | {"payload"}
    if not required <= members.keys() <= required | {"capturedAt"}:
        raise RefusedError
    for name, kind in _MEMBERS.items():
        if name in members and type(members[name]) is not kind:
            raise RefusedError  # S11: 1.0 is no integer here, and null is no string.
    if members["v"] != 1 or not 1 <= members["seq"] <= SAFE:
        raise RefusedError


def measure_levels(root: object) -> int:
    """How deep a value nests."""
    levels, level = 0, [root]
    while level := [value for value in level if isinstance(value, dict | list)]:
        levels += 1
        level = [part for value in level for part in (value.values() if isinstance(value, dict) else value)]
    return levels


def _hold_numbers(root: object) -> None:
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, int | float) and not -SAFE <= value <= SAFE:
            raise RefusedError


def _hold_object(fields: tuple[Field, ...], value: object) -> None:
    if not isinstance(value, dict):
        raise RefusedError
    _hold_fields(fields, value)


def _hold_fields(fields: tuple[Field, ...], value: dict[str, Any]) -> None:
    for field in fields:
        if field.name in value:
            _hold_kind(field, value[field.name])
        elif field.required:
            raise RefusedError


def _hold_kind(field: Field, value: object) -> None:
    match field.kind, value:
        case (FieldKind.TEXT, str()) | (FieldKind.FLAG, bool()):
            return
        case (FieldKind.NUMBER | FieldKind.COUNT, bool()):
            raise RefusedError
        case FieldKind.NUMBER, int() | float():
            return
        case FieldKind.COUNT, int() | float() if value >= 0 and float(value).is_integer():
            return  # S12: 5.0 is 5 on this wire, and -0.0 is 0.
        case FieldKind.OBJECT, dict():
            _hold_fields(field.fields, value)
        case FieldKind.TEXT_LIST, list() if all(isinstance(entry, str) for entry in value):
            return
        case FieldKind.OBJECT_LIST, list() if all(isinstance(entry, dict) for entry in value):
            for entry in value:
                _hold_fields(field.fields, entry)
        case _:
            raise RefusedError
