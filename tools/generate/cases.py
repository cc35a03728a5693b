"""Validation cases for every field, member and bound of the vocabulary, as lines of vectors.

Each case has one fault or none, so that its verdict follows from the vocabulary alone.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from ethogram.vocabulary import VOCABULARY, EventType, Field, FieldKind
from ethogram.vocabulary.decision import DENY

Case = dict[str, Any]
Place = tuple[str | int, ...]

_VALUES: Final = {
    FieldKind.TEXT: "x",
    FieldKind.FLAG: True,
    FieldKind.COUNT: 1,
    FieldKind.NUMBER: 0.5,
    FieldKind.TEXT_LIST: ["x", "y"],
}

_OTHER_KINDS: Final[dict[FieldKind, tuple[Any, ...]]] = {
    FieldKind.TEXT: (7, None),
    FieldKind.FLAG: ("true", 1, None),
    FieldKind.COUNT: ("1", -1, 0.5, True, None),
    FieldKind.NUMBER: ("1", True, None),
    FieldKind.OBJECT: ("x", [], None),
    FieldKind.TEXT_LIST: ("x", {}, None),
    FieldKind.OBJECT_LIST: ("x", {}, None),
}


def case_lines() -> str:
    """Write every case.

    Returns:
        One vector a line, in the vocabulary's order.
    """
    cases = [case for event_type in VOCABULARY.values() for case in _cases(event_type)]
    return "".join(f"{json.dumps(case, ensure_ascii=True, separators=(',', ':'))}\n" for case in cases)


def _cases(event_type: EventType) -> Iterator[Case]:
    whole = _object(event_type.fields)
    yield _case(event_type, "whole", whole, None)
    required = {field.name: whole[field.name] for field in event_type.fields if field.required}
    yield _case(event_type, "required-alone", required, None)
    for place, field in _places(event_type.fields, ()):
        yield from _field_cases(event_type, whole, place, field)


def _field_cases(event_type: EventType, whole: Case, place: Place, field: Field) -> Iterator[Case]:
    path = _path(place)
    for number, other in enumerate(_OTHER_KINDS[field.kind]):
        wrong = {"kind": "Malformed", "path": path, "message": ""}
        yield _case(event_type, f"{path}-of-another-kind-{number}", _changed(whole, place, other), wrong)
    if field.kind is FieldKind.TEXT_LIST:
        wrong = {"kind": "Malformed", "path": f"{path}[1]", "message": ""}
        yield _case(event_type, f"{path}-with-another-kind", _changed(whole, place, ["x", 7]), wrong)
    if field.required:
        yield _case(event_type, f"{path}-missing", _without(whole, place), {"kind": "MissingField", "path": path})
    for member in field.members:
        payload = _changed(whole, place, member)
        payload.pop("onTimeout", None)  # It stands with one kind alone.
        yield _case(event_type, f"{path}-{member}", payload, None)
    if field.members:
        stranger = {"kind": "UnknownMember", "path": path, "value": f"{field.members[0]}x"}
        yield _case(event_type, f"{path}-stranger", _changed(whole, place, f"{field.members[0]}x"), stranger)
    if field.scalars_max is not None:
        yield from _bound_cases(event_type, whole, place, field.scalars_max, is_list=field.kind is FieldKind.TEXT_LIST)


def _bound_cases(event_type: EventType, whole: Case, place: Place, most: int, *, is_list: bool) -> Iterator[Case]:
    """A text of exactly its bound, and of a scalar more; each takes four bytes and two UTF-16 units."""
    path = f"{_path(place)}[0]" if is_list else _path(place)
    for count, error in (
        (most, None),
        (most + 1, {"kind": "OverBound", "path": path, "count": most + 1, "max": most}),
    ):
        text = {"$repeat": ["\N{TULIP}", count]}
        payload = _changed(whole, place, [text] if is_list else text)
        yield _case(event_type, f"{path}-of-{count}", payload, error)


def _case(event_type: EventType, name: str, payload: Case, error: Case | None) -> Case:
    expect: Case = {"ok": True}
    if error is not None:
        expect = {"ok": False, "error": error}
        if error["kind"] != "Malformed":
            expect["canonical"] = json.dumps(error, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {
        "id": f"vocabulary/{event_type.name}/{name}",
        "op": "validate",
        "input": {"type": event_type.name, "payload": payload},
        "expect": expect,
    }


def _object(fields: tuple[Field, ...]) -> Case:
    return {field.name: _value(field) for field in fields}


def _value(field: Field) -> Any:  # noqa: ANN401 - any JSON value
    if field.name == "onTimeout":
        return DENY
    if field.kind is FieldKind.OBJECT:
        return _object(field.fields)
    if field.kind is FieldKind.OBJECT_LIST:
        return [_object(field.fields), _object(field.fields) | {"id": DENY}]
    return field.members[0] if field.members else copy.copy(_VALUES[field.kind])


def _places(fields: tuple[Field, ...], place: Place) -> Iterator[tuple[Place, Field]]:
    for field in fields:
        here = (*place, field.name)
        yield here, field
        yield from _places(field.fields, (*here, 0) if field.kind is FieldKind.OBJECT_LIST else here)


def _path(place: Place) -> str:
    return "payload" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)


def _changed(whole: Case, place: Place, value: Any) -> Case:  # noqa: ANN401 - any JSON value
    changed = copy.deepcopy(whole)
    _holder(changed, place)[place[-1]] = value
    return changed


def _without(whole: Case, place: Place) -> Case:
    changed = copy.deepcopy(whole)
    del _holder(changed, place)[place[-1]]
    return changed


def _holder(value: Any, place: Place) -> Any:  # noqa: ANN401 - the object or array that holds the last step
    for step in place[:-1]:
        value = value[step]
    return value
