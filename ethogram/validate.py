"""Policy and bounds: what a sink may refuse although it parses.

It must never change an event, and never carry content into a diagnostic.

Spec: Sink guide: refusing a validation error
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from ethogram import errors
from ethogram.bounds import (
    MAX_CANONICAL_GROWTH,
    MAX_EXCERPT_SCALARS,
    MAX_PAYLOAD_BYTES,
    MAX_TEXT_SCALARS,
)
from ethogram.canonical import serialise_value
from ethogram.envelope import Event, JsonValue, is_text
from ethogram.errors import ValidationError, shorten_path
from ethogram.representable import find_payload_fault, is_plainly_representable
from ethogram.vocabulary import VOCABULARY, EventType, Field
from ethogram.vocabulary.control import CONTROL_REQUESTED, STEER
from ethogram.vocabulary.decision import DECISION_REQUESTED, DENY, PERMISSION
from ethogram.walk import TOO_DEEP, find_leaf_fault, render_path, walk

# A control character is written as `\\u001f`; a scalar beyond it takes four bytes at most.
_MAX_CANONICAL_SCALAR_BYTES: Final = 6

# Braces, names, quotes or flags, and commas of the widest type.
_MAX_PLAIN_FRAME_BYTES: Final = max(
    len("{}") + sum(len(f'"{field.name}":false,') for field in event_type.fields) for event_type in VOCABULARY.values()
)

# The fields of each type that have a bound, or may have one inside.
_BOUNDED: Final[Mapping[str, tuple[Field, ...]]] = MappingProxyType(
    {
        name: tuple(field for field in event_type.fields if field.scalars_max is not None or field.fields)
        for name, event_type in VOCABULARY.items()
    }
)


def validate(type: str, payload: JsonValue) -> None:  # noqa: A002 - the envelope's own word, as everywhere here
    """Check an event's payload against everything a sink may refuse; the first fault found is raised.

    The order is fixed: string leaves in document order; payload size; then, for a known type, unsafe numbers in
    document order, missing and wrong-typed fields, closed sets, policy, and the fields' own bounds.

    Args:
        type: the event's type; for one outside the vocabulary only the two universal bounds apply.
        payload: any Python value; not changed.

    Raises:
        ValidationError: with the fault's kind and fields in `details`.

    Spec: Sink guide: refusing a validation error
    """
    known = VOCABULARY.get(type)
    is_plain = known is not None and is_plainly_representable(type, payload) and _is_plainly_in_bounds(payload)
    if not is_plain:
        _check_leaves(payload)
        _check_size(payload)
    if known is None:
        return
    fault = None if is_plain else find_payload_fault(type, payload)
    if fault is not None:
        diagnostic = _diagnose(fault.path, fault.fault, fault.kind)
        details: dict[str, str | int] = {"kind": fault.kind, "path": fault.path}
        if fault.kind == errors.MALFORMED:
            details["message"] = diagnostic
        raise ValidationError(diagnostic, details)
    check = _CHECKS.get(type)
    if check is not None:
        check(payload)
    _check_bounds(_BOUNDED[type], payload, "payload")


def validate_event(event: Event, raw_bytes_count: int | None = None) -> None:
    """Give the verdict of `validate` on an event that `parse_event` accepted, without looking twice.

    Such an event is representable, so closed sets, policy and bounds are left. The record's length rules most bounds
    out: a string of n scalars takes n bytes at least, and a payload grows at most fourfold when written canonically.

    Args:
        event: an event that `parse_event` accepted; on another the verdict may differ.
        raw_bytes_count: the length in bytes of the record it was parsed from, or None where that is not known.

    Raises:
        ValidationError: exactly as from `validate(event.type, event.payload)`.

    Spec: Sink guide: refusing a validation error
    """
    is_small = raw_bytes_count is not None and raw_bytes_count <= MAX_EXCERPT_SCALARS
    if not is_small:
        if raw_bytes_count is None or raw_bytes_count > MAX_TEXT_SCALARS:
            _check_leaves(event.payload)
        if raw_bytes_count is None or raw_bytes_count * MAX_CANONICAL_GROWTH > MAX_PAYLOAD_BYTES:
            _check_size(event.payload)
    check = _CHECKS.get(event.type)
    if check is not None:
        check(event.payload)
    if not is_small and event.type in VOCABULARY:
        _check_bounds(_BOUNDED[event.type], event.payload, "payload")


def is_plainly_valid(event_type: str, payload: JsonValue, raw_bytes_count: int) -> bool:
    """Prove in a third of a microsecond that a small event of plain fields is representable and valid.

    Args:
        event_type: the type of an event from `parse_envelope`.
        payload: its payload.
        raw_bytes_count: the length in bytes of the record it was parsed from.

    Returns:
        True if neither `check_payload` nor `validate` has anything to say; False if that takes their exact look.

    Spec: Sink guide: refusing a validation error
    """
    small = raw_bytes_count <= MAX_EXCERPT_SCALARS
    return small and event_type not in _CHECKS and is_plainly_representable(event_type, payload)


def _diagnose(path: str, fault: str, kind: str) -> str:
    return f"{shorten_path(path)}: {fault} ({kind})"


def _over_bound(path: str, count: int, scalars_max: int) -> ValidationError:
    return ValidationError(
        _diagnose(path, f"expected at most {scalars_max} scalars, got {count}", errors.OVER_BOUND),
        {"kind": errors.OVER_BOUND, "path": path, "count": count, "max": scalars_max},
    )


def _with_message(kind: str, path: str, fault: str) -> ValidationError:
    diagnostic = _diagnose(path, fault, kind)
    return ValidationError(diagnostic, {"kind": kind, "path": path, "message": diagnostic})


def _is_plainly_in_bounds(payload: dict[str, JsonValue]) -> bool:
    """Prove that an object of known texts and flags breaks neither universal bound; False if that is not plain."""
    scalars = 0
    for value in payload.values():
        if type(value) is str:
            if len(value) > MAX_TEXT_SCALARS or not is_text(value):
                return False
            scalars += len(value)
    return scalars * _MAX_CANONICAL_SCALAR_BYTES <= MAX_PAYLOAD_BYTES - _MAX_PLAIN_FRAME_BYTES


def _check_leaves(payload: JsonValue) -> None:
    """Hold every string to the universal bound; only then report what JSON cannot hold."""
    unrepresentable: ValidationError | None = None
    for node, leaf in walk(payload):
        if type(leaf) is str and len(leaf) > MAX_TEXT_SCALARS:
            raise _over_bound(render_path(node), len(leaf), MAX_TEXT_SCALARS)
        fault = find_leaf_fault(leaf) if unrepresentable is None else None
        if fault is not None:
            unrepresentable = _with_message(errors.MALFORMED, render_path(node), fault)
        if leaf is TOO_DEEP:
            break  # A value that contains itself twice would be walked for ever.
    if unrepresentable is not None:
        raise unrepresentable


def _check_size(payload: JsonValue) -> None:
    payload_bytes = len(serialise_value(payload))
    if payload_bytes > MAX_PAYLOAD_BYTES:
        raise ValidationError(
            _diagnose("payload", f"expected at most {MAX_PAYLOAD_BYTES} bytes, got {payload_bytes}", "PayloadTooLarge"),
            {"kind": errors.PAYLOAD_TOO_LARGE, "bytes": payload_bytes, "max": MAX_PAYLOAD_BYTES},
        )


def _check_bounds(fields: tuple[Field, ...], value: dict[str, JsonValue], path: str) -> None:
    """Hold each known field to its own bound, depth first in the vocabulary's order."""
    for field in fields:
        if field.name not in value or (field.scalars_max is None and not field.fields):
            continue
        field_value = value[field.name]
        field_path = f"{path}.{field.name}"
        entries = (
            [(field_path, field_value)]
            if type(field_value) is not list
            else [(f"{field_path}[{index}]", element) for index, element in enumerate(field_value)]
        )
        for entry_path, entry in entries:
            if field.fields:
                _check_bounds(field.fields, entry, entry_path)
            elif field.scalars_max is not None and len(entry) > field.scalars_max:
                raise _over_bound(entry_path, len(entry), field.scalars_max)


def _check_steer(payload: dict[str, JsonValue]) -> None:
    if payload["kind"] == STEER and not payload.get("text"):
        raise _with_message(errors.POLICY, "payload.text", "expected a text that is not empty to steer by, got none")


def _check_timeout(payload: dict[str, JsonValue]) -> None:
    """A decision may answer itself only by denying a permission, and only with an option that was offered."""
    if "onTimeout" not in payload:
        return
    path = "payload.onTimeout"
    if payload["kind"] != PERMISSION:
        raise _with_message(errors.POLICY, path, "expected none but on a permission, got one on another kind")
    if payload["onTimeout"] != DENY:
        raise _with_message(errors.POLICY, path, f"expected {DENY}, got another option")
    if all(option["id"] != DENY for option in payload["options"]):
        raise _with_message(errors.POLICY, path, "expected the id of an offered option, got another")


_POLICIES: Final[Mapping[str, Callable[[dict[str, JsonValue]], None]]] = MappingProxyType(
    {CONTROL_REQUESTED.name: _check_steer, DECISION_REQUESTED.name: _check_timeout}
)


def _build_check(event_type: EventType) -> Callable[[dict[str, JsonValue]], None] | None:
    """Join a type's closed sets and its policy into one check, or none where it has neither."""
    closed = tuple((field.name, frozenset(field.members)) for field in event_type.fields if field.members)
    policy = _POLICIES.get(event_type.name)
    if not closed and policy is None:
        return None

    def check(payload: dict[str, JsonValue]) -> None:
        for name, members in closed:
            if payload[name] not in members:
                path = f"payload.{name}"
                raise ValidationError(
                    _diagnose(path, f"expected one of {len(members)} members, got another", errors.UNKNOWN_MEMBER),
                    {"kind": errors.UNKNOWN_MEMBER, "path": path, "value": payload[name]},
                )
        if policy is not None:
            policy(payload)

    return check


_BUILT: Final = {name: _build_check(event_type) for name, event_type in VOCABULARY.items()}
_CHECKS: Final = {name: check for name, check in _BUILT.items() if check is not None}
