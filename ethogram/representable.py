"""Whether a payload can be represented: safe numbers, required fields, the kinds of known fields.

This is the half of the vocabulary that parsing holds, and that `validate` reports as `MissingField` and `Malformed`. It
must never look at closed sets, policies or bounds: a forwarder carries a producer's invalid event.

Spec: Agent observation
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ethogram.bounds import MAX_SAFE_INTEGER
from ethogram.envelope import JsonValue
from ethogram.errors import MALFORMED, MISSING_FIELD
from ethogram.vocabulary import VOCABULARY, Field, FieldKind
from ethogram.walk import TOO_DEEP, TOO_DEEP_FAULT, is_safe_number, numbers_are_safe, render_path, walk


class PayloadFault(NamedTuple):
    """Why a payload cannot be represented.

    Attributes:
        kind: `MissingField` or `Malformed`.
        path: where, from `payload`.
        fault: `expected …, got …`.
    """

    kind: str
    path: str
    fault: str


# Fields whose value needs no look beyond its type. Most events of an agent consist of these alone.
_PLAIN_TYPES: Final[Mapping[FieldKind, type]] = MappingProxyType({FieldKind.TEXT: str, FieldKind.FLAG: bool})

_PLAIN_FIELDS: Final[dict[str, tuple[dict[str, type], tuple[str, ...]]]] = {
    name: (
        {field.name: _PLAIN_TYPES[field.kind] for field in event_type.fields if field.kind in _PLAIN_TYPES},
        tuple(field.name for field in event_type.fields if field.required),
    )
    for name, event_type in VOCABULARY.items()
}


def is_plainly_representable(event_type: str, payload: JsonValue) -> bool:
    """Prove in a quarter of a microsecond that a payload of plain known fields is representable.

    Args:
        event_type: the event's type.
        payload: its payload, a JSON value.

    Returns:
        True if it is representable; False if that takes the exact look of `find_payload_fault`.

    Spec: Agent observation
    """
    known = _PLAIN_FIELDS.get(event_type)
    if known is None:
        return numbers_are_safe(payload)
    if type(payload) is not dict:
        return False
    plain, required = known
    try:
        for name, value in payload.items():
            if type(value) is not plain[name]:
                return False
        for name in required:
            payload[name]
    except KeyError:
        return False
    return True


def find_payload_fault(event_type: str, payload: JsonValue) -> PayloadFault | None:
    """Find the first reason why a payload cannot be represented.

    Args:
        event_type: the event's type; one outside the vocabulary asks for safe numbers alone.
        payload: its payload, a JSON value without NaN or infinities; not changed.

    Returns:
        The fault, or None. Unsafe numbers come first, in document order; then the fields in the vocabulary's order.

    Spec: Agent observation
    """
    fault = find_unsafe_number(payload)
    known = VOCABULARY.get(event_type)
    if fault is not None or known is None:
        return fault
    if type(payload) is not dict:
        return _malformed("payload", "an object", payload)
    return _find_field_fault(known.fields, payload, "payload")


def find_unsafe_number(payload: JsonValue) -> PayloadFault | None:
    """Find the first number beyond 2^53-1 in magnitude, in document order, or the first place that is too deep.

    No parser gives a value that is too deep; one made by hand may contain itself.

    Args:
        payload: a JSON value, of any depth.

    Returns:
        A `Malformed` fault, or None.

    Spec: Sink guide: refusing a validation error
    """
    if numbers_are_safe(payload):
        return None
    for node, leaf in walk(payload):
        if leaf is TOO_DEEP:
            return PayloadFault(MALFORMED, render_path(node), TOO_DEEP_FAULT)
        if (type(leaf) is int or type(leaf) is float) and not is_safe_number(leaf):
            wanted = f"expected a number of at most {MAX_SAFE_INTEGER} in magnitude, got a larger one"
            return PayloadFault(MALFORMED, render_path(node), wanted)
    return None


def _find_field_fault(fields: tuple[Field, ...], value: dict[str, JsonValue], path: str) -> PayloadFault | None:
    for field in fields:
        if field.name in value:
            fault = _find_value_fault(field, value[field.name], f"{path}.{field.name}")
            if fault is not None:
                return fault
        elif field.required:
            return PayloadFault(
                MISSING_FIELD, f"{path}.{field.name}", f"expected {field.kind.value}, got no such field"
            )
    return None


def _is_count(value: JsonValue) -> bool:
    # 5.0 and 5 are one value on this wire, and so are -0.0 and 0.
    return is_safe_number(value) and value >= 0 and value == int(value)


_FITS: Final[Mapping[FieldKind, Callable[[JsonValue], bool]]] = MappingProxyType(
    {
        FieldKind.TEXT: lambda value: type(value) is str,
        FieldKind.FLAG: lambda value: type(value) is bool,
        FieldKind.COUNT: _is_count,
        FieldKind.NUMBER: is_safe_number,
        FieldKind.OBJECT: lambda value: type(value) is dict,
        FieldKind.TEXT_LIST: lambda value: type(value) is list,
        FieldKind.OBJECT_LIST: lambda value: type(value) is list,
    }
)


def _find_value_fault(field: Field, value: JsonValue, path: str) -> PayloadFault | None:
    if not _FITS[field.kind](value):
        return _malformed(path, field.kind.value, value)
    if field.kind is FieldKind.OBJECT:
        return _find_field_fault(field.fields, value, path)
    if field.kind is FieldKind.TEXT_LIST or field.kind is FieldKind.OBJECT_LIST:
        return _find_element_fault(field, value, path)
    return None


def _find_element_fault(field: Field, elements: list[JsonValue], path: str) -> PayloadFault | None:
    element_kind = FieldKind.OBJECT if field.kind is FieldKind.OBJECT_LIST else FieldKind.TEXT
    element_field = Field(field.name, element_kind, fields=field.fields)
    for index, element in enumerate(elements):
        fault = _find_value_fault(element_field, element, f"{path}[{index}]")
        if fault is not None:
            return fault
    return None


def _malformed(path: str, wanted: str, got: JsonValue) -> PayloadFault:
    return PayloadFault(MALFORMED, path, f"expected {wanted}, got {name_kind(got)}")


def name_kind(value: JsonValue) -> str:
    """Name what a JSON value is, without showing it.

    Spec: Sink guide: refusing a validation error
    """
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")
