"""The one compact serialisation that the corpus compares.

No whitespace; envelope members in the order of the spec's table; payload keys sorted by their UTF-8 bytes; numbers laid
out as ECMAScript does. It must never repair: what has no canonical form is an error.

orjson writes all of this except numbers with a fraction, integers beyond 2^53-1 and nesting beyond 254 levels. A quick
pass finds the values it can be trusted with; an exact writer, some thirty times slower, has the rest.

Spec: The founding decision: two implementations, one corpus
"""

from typing import Final

import orjson

from ethogram.bounds import MAX_SAFE_INTEGER, SCHEMA_VERSION
from ethogram.envelope import Event, JsonValue, is_seq, is_text
from ethogram.errors import SerialiseError, ValidationError
from ethogram.walk import find_leaf_fault, render_path, walk

# Anything but plain JSON types is refused, where orjson would turn it into something.
_OPTIONS: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)

# ECMAScript writes a number plainly while its decimal point falls within these places.
_POINT_FIRST: Final = -5
_POINT_LAST: Final = 21

_TEXT_MEMBERS: Final = frozenset(("type", "runId", "ts", "capturedAt"))
_CAPTURED: Final = frozenset((str, type(None)))

# The payloads of most events are flat objects of these.
_NUMBERLESS: Final = frozenset((str, bool, type(None)))


class _Token(bytes):
    """Finished output among the values that still wait to be written."""

    __slots__ = ()


def format_number(value: float) -> bytes:
    """Lay out a finite number as ECMAScript does.

    Args:
        value: a finite int or float; an int is rounded to the nearest double first, as the wire's readers do.

    Returns:
        `1`, `0.000001`, `1e-7`, `1.5e+300`; negative zero is `0`.

    Raises:
        OverflowError: an int is beyond every double.

    Spec: The founding decision: two implementations, one corpus
    """
    number = float(value)
    if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER:
        return b"%d" % int(number)
    # repr gives the shortest digits that round-trip; only their layout differs.
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    if _POINT_FIRST <= point <= 0:
        text = "0." + "0" * -point + digits
    elif 0 < point < len(digits):
        text = f"{digits[:point]}.{digits[point:]}"
    elif len(digits) <= point <= _POINT_LAST:
        text = digits.ljust(point, "0")
    else:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{tail}e{point - 1:+d}"
    return (f"-{text}" if number < 0 else text).encode()


def serialise_value(value: JsonValue, path: str = "payload") -> bytes:
    """Write one JSON value canonically.

    Args:
        value: a JSON value of at most 1,023 levels; not changed.
        path: what error paths start at.

    Returns:
        Its canonical UTF-8 bytes.

    Raises:
        SerialiseError: some part is no JSON value; it names the path.

    Spec: The founding decision: two implementations, one corpus
    """
    try:
        written = orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        pass  # Too deep for it, or at fault: the exact writer tells the two apart.
    else:
        # Asked only now, since a value that contains itself would never end the asking.
        if _orjson_suffices(value):
            return written
    for node, leaf in walk(value):
        fault = find_leaf_fault(leaf)
        if fault is not None:
            raise SerialiseError(render_path(node, path), fault)
    return _write_exactly(value)


def _orjson_suffices(root: JsonValue) -> bool:
    """Say whether a value has no number with a fraction and no unsafe integer, and so reads the same from orjson."""
    if type(root) is dict and _NUMBERLESS.issuperset(map(type, root.values())):
        return True
    pending = [root]
    for value in pending:  # The list grows while it is read: it is the queue of what is still to see.
        kind = type(value)
        if kind is str or kind is bool or value is None:
            continue
        if kind is dict:
            pending.extend(value.values())
        elif kind is list:
            pending.extend(value)
        elif kind is not int or not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return False
    return True


def _write_exactly(root: JsonValue) -> bytes:
    written: list[bytes] = []
    pending: list[JsonValue] = [root]
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind is _Token:
            written.append(value)
        elif kind is dict:
            pending.extend(_open_object(value))
        elif kind is list:
            pending.extend(_open_array(value))
        elif kind is int or kind is float:
            written.append(format_number(value))
        else:
            written.append(orjson.dumps(value))
    return b"".join(written)


def _open_object(value: dict[str, JsonValue]) -> list[JsonValue]:
    """The members of an object, last first, between the tokens that part them."""
    tokens: list[JsonValue] = [_Token(b"}")]
    for key in sorted(value, key=str.encode, reverse=True):
        tokens += (value[key], _Token(orjson.dumps(key) + b":"), _Token(b","))
    # The comma in front of the first member gives way to the brace; an empty object has none.
    return [*(tokens[:-1] if value else tokens), _Token(b"{")]


def _open_array(value: list[JsonValue]) -> list[JsonValue]:
    """The elements of an array, last first, between the tokens that part them."""
    tokens: list[JsonValue] = [_Token(b"]")]
    for element in reversed(value):
        tokens += (element, _Token(b","))
    return [*(tokens[:-1] if value else tokens), _Token(b"[")]


def serialise_event(event: Event) -> bytes:
    """Write an event canonically: the same bytes for the same event, from every implementation.

    Args:
        event: an event that parsed, or one made by hand; its fields are not validated, only written.

    Returns:
        Its canonical UTF-8 bytes, without a line feed.

    Raises:
        SerialiseError: a member of the envelope has the wrong type, or a part of the payload is no JSON value.

    Spec: The founding decision: two implementations, one corpus
    """
    event_type, run_id, seq, ts, payload, captured_at = event
    if not (type(event_type) is type(run_id) is type(ts) is str and type(captured_at) in _CAPTURED and is_seq(seq)):
        raise _find_member_fault(event)
    members = {
        "v": SCHEMA_VERSION,
        "type": event_type,
        "runId": run_id,
        "seq": seq,
        "ts": ts,
        "payload": orjson.Fragment(serialise_value(payload)),
    }
    if captured_at is not None:
        members["capturedAt"] = captured_at
    try:
        return orjson.dumps(members)
    except orjson.JSONEncodeError:
        raise _find_member_fault(event) from None


def _find_member_fault(event: Event) -> SerialiseError:
    """Name the envelope member that keeps an event from being written."""
    for name, value in event.to_dict().items():
        if name in _TEXT_MEMBERS and not is_text(value):
            return SerialiseError(name, f"expected UTF-8 text, got a {type(value).__name__}")
    return SerialiseError("seq", f"expected an integer from 1 to {MAX_SAFE_INTEGER}, got another")


def serialise_validation_error(error: ValidationError) -> bytes:
    """Write a validation error's kind and fields as canonical JSON; the diagnostic is no part of it.

    Args:
        error: the error.

    Returns:
        Canonical UTF-8 bytes of `error.details`; a lone surrogate from an unrepresentable payload is written as `?`.

    Spec: Sink guide: refusing a validation error
    """
    details = {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in error.details.items()
    }
    return serialise_value(details, "error")
