"""Validation and refusals, for any value."""

import contextlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import VOCABULARY, ParseError, ValidationError
from ethogram.validate import is_plainly_valid
from tests.property import slow_judge
from tests.property.strategies import json_values, odd_values, rough_json, spoilt_json, spoilt_payloads, typed_payloads

FIELDS = {
    "OverBound": {"kind", "path", "count", "max"},
    "PayloadTooLarge": {"kind", "bytes", "max"},
    "UnknownMember": {"kind", "path", "value"},
    "MissingField": {"kind", "path"},
    "Policy": {"kind", "path", "message"},
    "Malformed": {"kind", "path", "message"},
}


def fault_of(event_type: str, payload: Any) -> ValidationError | None:  # noqa: ANN401 - any Python value
    """What `validate` raises, or None."""
    try:
        ethogram.validate(event_type, payload)
    except ValidationError as error:
        return error
    return None


@given(spoilt_payloads | st.tuples(st.text(max_size=5), odd_values))
def test_any_value_is_valid_or_has_one_structured_fault(typed: tuple[str, Any]) -> None:
    """Nothing but ValidationError comes out, with its kind's fields and no other, and it makes a valid refusal."""
    error = fault_of(*typed)
    if error is None:
        return
    assert error.details.keys() == FIELDS[error.kind]
    assert ethogram.serialise_validation_error(error).startswith(b"{")
    draft = ethogram.refusal_of(error, source_run_id="r" * 5000, source_seq=1, source_type=typed[0])
    assert fault_of(draft.type, draft.payload) is None
    ethogram.parse_draft(draft)


@given(typed_payloads | spoilt_payloads, st.integers(0, 40_000))
def test_validate_event_is_validate(typed: tuple[str, Any], padding: int) -> None:
    """On an event that parses, the verdict is that of `validate`, whatever is known of the record's length."""
    members = {"v": 1, "type": typed[0], "runId": "r", "seq": 1, "ts": "t", "payload": typed[1]}
    try:
        event = ethogram.parse_event(members)
    except ParseError:
        return
    expected = fault_of(event.type, event.payload)
    raw_bytes_count = len(ethogram.serialise_event(event)) + padding
    for hint in (None, raw_bytes_count):
        try:
            ethogram.validate_event(event, hint)
        except ValidationError as error:
            assert expected is not None
            assert (error.details, str(error)) == (expected.details, str(expected))  # noqa: PT017 - either may raise
        else:
            assert expected is None


@given(typed_payloads | spoilt_payloads)
def test_the_quick_proof_of_validity_proves_what_it_says(typed: tuple[str, Any]) -> None:
    """Where the quick proof holds for a JSON payload, neither stage has a fault to find."""
    members = {"v": 1, "type": typed[0], "runId": "r", "seq": 1, "ts": "t", "payload": typed[1]}
    try:
        raw = json.dumps(members, ensure_ascii=False, allow_nan=False).encode()
        event = ethogram.parse_envelope(raw)
    except (ParseError, TypeError, ValueError):
        return  # Not JSON: the proof is asked of events from the parser alone.
    if is_plainly_valid(event.type, event.payload, len(raw)):
        ethogram.check_payload(event)
        assert fault_of(event.type, event.payload) is None


@given(spoilt_json)
def test_json_is_judged_by_the_rulings(typed: tuple[str, Any]) -> None:
    """A payload of JSON is valid, or has the kind, the path and the measures of fault, that the slow judge gives."""
    fault = fault_of(*typed)
    with contextlib.suppress(slow_judge.UnsettledError):
        given_details = None if fault is None else {n: v for n, v in fault.details.items() if n != "message"}
        assert given_details == slow_judge.judge(*typed)


@given(json_values | rough_json | odd_values, st.sampled_from([*VOCABULARY, "x.y", ""]))
def test_validate_never_crashes(value: Any, event_type: str) -> None:  # noqa: ANN401 - any Python value
    """Any value whatever, as the payload of any type, is valid or has one of six kinds of fault; it is not changed."""
    before = repr(value)
    fault = fault_of(event_type, value)
    assert fault is None or fault.kind in FIELDS
    assert repr(value) == before


@given(spoilt_json)
def test_validation_and_parsing_agree_on_what_can_be_represented(typed: tuple[str, Any]) -> None:
    """Of a known type, what does not parse is malformed unless a universal bound comes first; what parses never is."""
    fault = fault_of(*typed)
    try:
        ethogram.parse_event({"v": 1, "type": typed[0], "runId": "r", "seq": 1, "ts": "t", "payload": typed[1]})
    except ParseError:
        assert typed[0] not in VOCABULARY or fault is not None
        assert fault is None or fault.kind in {"OverBound", "PayloadTooLarge", "Malformed", "MissingField"}
    else:
        assert fault is None or fault.kind not in {"Malformed", "MissingField"}
