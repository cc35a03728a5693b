"""Events of the vocabulary with a mutation or two, built from choices."""

import copy
from collections.abc import Callable
from typing import Any

from ethogram.vocabulary import VOCABULARY, Field, FieldKind
from tests.fuzz.choices import Choices

_TYPES = (*VOCABULARY, "x.seen", "")
_LENGTHS = (0, 1, 4096, 4097, 16_385)
_ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**53, "", [], {}, [None], {"": None})
_TAILS = (
    '"v":1', '"payload":{}', '"x":null', '"capturedAt":null', '"capturedAt":"t"', '"\\u0076":1', '"seq":1.0',
)  # fmt: skip


def build_members(choices: Choices) -> dict[str, Any]:
    """An event's members under their wire names, most often of an event that parses."""
    event_type = choices.pick(_TYPES)
    known = VOCABULARY.get(event_type)
    payload = choices.value() if known is None else _build_object(known.fields, choices)
    members: dict[str, Any] = {
        "v": 1,
        "type": event_type,
        "runId": choices.text(),
        "seq": choices.pick((1, 2, 7, 2**53 - 1)),
        "ts": choices.text(),
        "payload": payload,
    }
    if choices.chance(3):
        members["capturedAt"] = choices.text()
    return members


def mutate(members: dict[str, Any], choices: Choices) -> None:
    """Change up to two things, at any place."""
    for _ in range(choices.below(3)):
        place = _find_place(members, choices)
        if place:
            choices.pick(_MUTATIONS)(place, choices)


def build_tail(choices: Choices) -> str:
    """A member in text, to stand behind the others; mostly none."""
    return "," + choices.pick(_TAILS) if choices.chance(6) else ""


def _build_object(fields: tuple[Field, ...], choices: Choices) -> dict[str, Any]:
    built = {field.name: _build_value(field, choices) for field in fields if field.required or choices.chance(3)}
    if choices.chance(4):
        built[choices.text()] = choices.value(2)
    return built


def _build_value(field: Field, choices: Choices) -> object:  # noqa: PLR0911 - one return a kind
    if field.members:
        return choices.pick((*field.members, "unheard-of"))
    match field.kind:
        case FieldKind.TEXT:
            return choices.text() if not choices.chance(16) else choices.pick(("é", "w")) * choices.pick(_LENGTHS)
        case FieldKind.FLAG:
            return choices.chance(2)
        case FieldKind.COUNT:
            return choices.pick((0, 5, 5.0, -0.0, 2**53 - 1))
        case FieldKind.NUMBER:
            return choices.number()
        case FieldKind.OBJECT:
            return _build_object(field.fields, choices)
        case FieldKind.TEXT_LIST:
            return [choices.text() for _ in range(choices.below(3))]
        case FieldKind.OBJECT_LIST:
            return [_build_object(field.fields, choices) for _ in range(choices.below(3))]


Place = tuple[Any, Any]
"""A container, and one of its keys or indexes."""


def _find_place(members: dict[str, Any], choices: Choices) -> Place | None:
    """A place that holds something; the envelope now and then, else somewhere in the payload."""
    container: Any = members
    if not members:
        return None
    key: Any = choices.pick(tuple(members)) if choices.chance(4) or "payload" not in members else "payload"
    while isinstance(container[key], dict | list) and container[key] and not choices.chance(3):
        container = container[key]
        key = choices.pick(tuple(container) if isinstance(container, dict) else range(len(container)))
    return container, key


def _drop(place: Place, _choices: Choices) -> None:
    del place[0][place[1]]


def _replace(place: Place, choices: Choices) -> None:
    place[0][place[1]] = copy.deepcopy(choices.pick(_ODD))


def _rebuild(place: Place, choices: Choices) -> None:
    place[0][place[1]] = choices.value()


def _wrap(place: Place, choices: Choices) -> None:
    for _ in range(choices.pick((1, 2, 60, 110))):
        place[0][place[1]] = [place[0][place[1]]]


def _multiply(place: Place, choices: Choices) -> None:
    """Make the size of the payload near its bound."""
    place[0][place[1]] = ["\U0001f600" * choices.pick((2047, 2048, 4096)) for _ in range(choices.pick((1, 8, 16, 17)))]


_MUTATIONS: tuple[Callable[[Place, Choices], None], ...] = (_drop, _replace, _rebuild, _wrap, _multiply)
