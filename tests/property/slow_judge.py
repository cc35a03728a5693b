"""A second, slow judging of payloads by the rulings: what `validate` is held against.

It goes through the stages in their fixed order, each over the whole payload, and shares with the kit only the
vocabulary's tables.
"""

import re
import sys
from collections.abc import Iterator
from typing import Any

from ethogram.vocabulary import VOCABULARY, Field, FieldKind
from tests.property import naive_writer
from tests.property.slow_reader import SAFE

TEXT_SCALARS_MAX = 16_384
PAYLOAD_BYTES_MAX = 131_072

_LARGEST_DOUBLE = sys.float_info.max

Details = dict[str, Any]
"""A fault's kind and fields, the text of `message` left out."""


class UnsettledError(Exception):
    """The value holds what no JSON can, or nests deeper than this judge sees: no single verdict is settled."""


def judge(event_type: str, payload: Any) -> Details | None:  # noqa: ANN401 - what a loose JSON reader gives
    """The details that `validate` must raise with, or None for a valid payload.

    Raises:
        UnsettledError: the rulings do not settle it.
    """
    try:
        leaves = list(_leaves(payload, "payload"))
        for _, leaf in leaves:
            _hold_json(leaf)
        stages = _universal(payload, leaves), _known(event_type, payload, leaves)
        return next((fault for stage in stages for fault in stage), None)
    except RecursionError:
        raise UnsettledError from None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        for key, member in value.items():
            _hold_json(key)
            yield from _leaves(member, f"{path}.{key}")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _leaves(element, f"{path}[{index}]")
    else:
        yield path, value


def _hold_json(leaf: object) -> None:
    is_lone = isinstance(leaf, str) and re.search("[\ud800-\udfff]", leaf) is not None
    is_beyond = isinstance(leaf, int | float) and not abs(leaf) <= _LARGEST_DOUBLE
    if is_lone or is_beyond:
        raise UnsettledError


def _universal(payload: Any, leaves: list[tuple[str, Any]]) -> Iterator[Details]:  # noqa: ANN401 - any JSON value
    for path, leaf in leaves:
        if isinstance(leaf, str):
            yield from _hold_bound(path, leaf, TEXT_SCALARS_MAX)
    size = len(naive_writer.write_value(payload))
    if size > PAYLOAD_BYTES_MAX:
        yield {"kind": "PayloadTooLarge", "bytes": size, "max": PAYLOAD_BYTES_MAX}


def _known(event_type: str, payload: Any, leaves: list[tuple[str, Any]]) -> Iterator[Details]:  # noqa: ANN401 - any JSON
    if event_type not in VOCABULARY:
        return
    for path, leaf in leaves:
        if isinstance(leaf, int | float) and not -SAFE <= leaf <= SAFE:
            yield {"kind": "Malformed", "path": path}
    if not isinstance(payload, dict):
        yield {"kind": "Malformed", "path": "payload"}
        return
    fields = VOCABULARY[event_type].fields
    yield from _shape(fields, payload, "payload")
    for field in fields:
        if field.members and payload[field.name] not in field.members:
            yield {"kind": "UnknownMember", "path": f"payload.{field.name}", "value": payload[field.name]}
    yield from _policy(event_type, payload)
    yield from _bounds(fields, payload, "payload")


def _shape(fields: tuple[Field, ...], value: dict[str, Any], path: str) -> Iterator[Details]:
    for field in fields:
        place = f"{path}.{field.name}"
        if field.name in value:
            yield from _kind(field, value[field.name], place)
        elif field.required:
            yield {"kind": "MissingField", "path": place}


def _kind(field: Field, value: Any, path: str) -> Iterator[Details]:  # noqa: ANN401 - any JSON value
    is_number = type(value) in (int, float)
    fits = {
        FieldKind.TEXT: isinstance(value, str),
        FieldKind.FLAG: value is True or value is False,
        FieldKind.NUMBER: is_number,
        FieldKind.COUNT: is_number and value >= 0 and float(value).is_integer(),
        FieldKind.OBJECT: isinstance(value, dict),
        FieldKind.TEXT_LIST: isinstance(value, list),
        FieldKind.OBJECT_LIST: isinstance(value, list),
    }[field.kind]
    if not fits:
        yield {"kind": "Malformed", "path": path}
    elif isinstance(value, list):
        wanted = str if field.kind is FieldKind.TEXT_LIST else dict
        for index, entry in enumerate(value):
            if not isinstance(entry, wanted):
                yield {"kind": "Malformed", "path": f"{path}[{index}]"}
            elif isinstance(entry, dict):
                yield from _shape(field.fields, entry, f"{path}[{index}]")
    elif isinstance(value, dict):
        yield from _shape(field.fields, value, path)


def _policy(event_type: str, payload: dict[str, Any]) -> Iterator[Details]:
    if event_type == "control.requested" and payload["kind"] == "steer" and not payload.get("text"):
        yield {"kind": "Policy", "path": "payload.text"}
    if event_type == "decision.requested" and "onTimeout" in payload:
        offered = [option["id"] for option in payload["options"]]
        if payload["kind"] != "permission" or payload["onTimeout"] != "deny" or "deny" not in offered:
            yield {"kind": "Policy", "path": "payload.onTimeout"}


def _bounds(fields: tuple[Field, ...], value: dict[str, Any], path: str) -> Iterator[Details]:
    for field in fields:
        if field.name not in value:
            continue
        held, place = value[field.name], f"{path}.{field.name}"
        is_list = isinstance(held, list)
        for index, entry in enumerate(held if is_list else [held]):
            where = f"{place}[{index}]" if is_list else place
            if field.fields:
                yield from _bounds(field.fields, entry, where)
            elif field.scalars_max is not None:
                yield from _hold_bound(where, entry, field.scalars_max)


def _hold_bound(path: str, text: str, scalars_max: int) -> Iterator[Details]:
    if len(text) > scalars_max:
        yield {"kind": "OverBound", "path": path, "count": len(text), "max": scalars_max}
