"""The canonical form."""

import json
from typing import Any

import pytest

import ethogram
from ethogram import Event
from ethogram.canonical import format_number, serialise_value


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, b"0"),
        (-0.0, b"0"),
        (1.0, b"1"),
        (-5.0, b"-5"),
        (0.1, b"0.1"),
        (1e15, b"1000000000000000"),
        (123456.789, b"123456.789"),
        (1e-6, b"0.000001"),
        (1.5e-6, b"0.0000015"),
        (1e-7, b"1e-7"),
        (-1.25e-7, b"-1.25e-7"),
        (5e-324, b"5e-324"),
        (2.0**53, b"9007199254740992"),
        (1e20, b"100000000000000000000"),
        (1.5e20, b"150000000000000000000"),
        (1e21, b"1e+21"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"),
        (9_007_199_254_740_993, b"9007199254740992"),
        (9_999_999_999_999_999_999, b"10000000000000000000"),
        (-(10**21), b"-1e+21"),
    ],
)
def test_numbers_are_laid_out_as_in_ecmascript(number: float, expected: bytes) -> None:
    """Shortest digits; plain from 1e-6 to 1e20; no fraction on an integral number; no negative zero."""
    assert format_number(number) == expected


def test_keys_sort_by_their_utf8_bytes() -> None:
    """U+FFFF comes before U+10000, and digits are text."""
    value = {"\U00010000": 1, "\uffff": 2, "b": 3, "10": 4, "9": 5, "": 6, "__proto__": 7}
    expected = '{"":6,"10":4,"9":5,"__proto__":7,"b":3,"\uffff":2,"\U00010000":1}'.encode()
    assert serialise_value(value) == expected
    assert serialise_value({"nested": [value], "f": 0.5}) == b'{"f":0.5,"nested":[' + expected + b"]}"


def test_strings_escape_only_what_they_must() -> None:
    """Quote, backslash and controls are escaped, the short way where there is one; all else is raw."""
    text = '"\\/\b\t\n\f\r\x00\x1f\x7f\u2028\ufeff\U0001f600'
    expected = '"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\u2028\ufeff\U0001f600"'.encode()
    assert serialise_value(text) == expected
    assert serialise_value([text, 0.5]) == b"[" + expected + b",0.5]"


@pytest.mark.parametrize("value", [[], {}, [[]], {"a": {}}, [{}, 1.5, []], {"a": [1.5], "b": {}}, None, True, "x"])
def test_containers_keep_their_form(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Empty containers and lone leaves are written as JSON has them."""
    assert serialise_value(value) == json.dumps(value, separators=(",", ":")).encode()


def test_deep_values_are_written() -> None:
    """Nesting beyond what the quick writer takes is written exactly, up to the parser's limit."""
    for depth in (254, 255, 1023):
        value: Any = 1
        for _ in range(depth):
            value = [value]
        assert serialise_value(value) == b"[" * depth + b"1" + b"]" * depth


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [float("nan")]}, "payload.a[0]"),
        ({"a": (1,)}, "payload.a"),
        ({"a": {1: 2}}, "payload.a"),
        ({"a": b"x"}, "payload.a"),
        ("\ud800", "payload"),
        ([10**400], "payload[0]"),
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any, path: str) -> None:  # noqa: ANN401 - wrong on purpose
    """Nothing is turned into something else on its way out."""
    with pytest.raises(ethogram.SerialiseError) as caught:
        serialise_value(value)
    assert caught.value.path == path


def test_a_value_in_itself_is_refused() -> None:
    """A cycle ends in an error, not in a loop."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ethogram.SerialiseError, match="levels"):
        serialise_value(value)


def test_envelope_members_keep_their_order() -> None:
    """Envelope in the spec's order, payload sorted, capturedAt last and only when present."""
    event = Event("x.y", "r", 2, "t", {"b": 1, "a": 2.0}, "c")
    assert ethogram.serialise_event(event) == (
        b'{"v":1,"type":"x.y","runId":"r","seq":2,"ts":"t","payload":{"a":2,"b":1},"capturedAt":"c"}'
    )
    assert ethogram.serialise_event(event._replace(captured_at=None)).endswith(b'"payload":{"a":2,"b":1}}')


@pytest.mark.parametrize(
    ("change", "path"),
    [({"seq": 1.0}, "seq"), ({"type": 5}, "type"), ({"run_id": "\ud800"}, "runId"), ({"captured_at": 1}, "capturedAt")],
)
def test_events_made_wrongly_are_refused(change: dict[str, Any], path: str) -> None:
    """An envelope member of a wrong type is named."""
    event = Event("x.y", "r", 2, "t", {})._replace(**change)
    with pytest.raises(ethogram.SerialiseError) as caught:
        ethogram.serialise_event(event)
    assert caught.value.path == path


def test_validation_errors_serialise_their_fields_alone() -> None:
    """Kind and fields, sorted; the diagnostic only where it is a field."""
    error = ethogram.ValidationError("said", {"kind": "OverBound", "path": "payload.é", "count": 2, "max": 1})
    assert ethogram.serialise_validation_error(error) == (
        '{"count":2,"kind":"OverBound","max":1,"path":"payload.é"}'.encode()
    )
