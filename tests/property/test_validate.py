"""Validation, refusals and excerpts, for any value."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import ParseError, ValidationError
from ethogram.validate import is_plainly_valid
from tests.property.strategies import odd_values, spoilt_payloads, typed_payloads

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


@given(st.text(), st.integers(0, 50))
def test_excerpts_are_prefixes(text: str, max_scalars: int) -> None:
    """An excerpt has UTF-8, fits its bound, is the text's beginning, and is flagged exactly where it is shorter."""
    kept = ethogram.excerpt(text, max_scalars)
    assert len(kept.text.encode().decode()) == min(len(text), max_scalars)
    assert kept.truncated == (len(text) > max_scalars)
    assert all(a == b or "\ud800" <= b <= "\udfff" for a, b in zip(kept.text, text, strict=False))
    assert ethogram.excerpt(kept.text, max_scalars) == (kept.text, False)
