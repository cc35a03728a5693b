"""Validation and refusals, for any value."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import VOCABULARY, ParseError, ValidationError
from ethogram.validate import is_plainly_valid
from ethogram.vocabulary import FieldKind
from tests.property import slow_judge
from tests.property.strategies import (
    any_texts,
    json_values,
    odd_values,
    rough_json,
    spoilt_json,
    spoilt_payloads,
    typed_payloads,
)
from tests.unit.ethogram.samples import MINIMAL

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


@given(spoilt_payloads | st.tuples(any_texts, odd_values))
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


def agrees_with_the_slow_judge(event_type: str, payload: Any) -> None:  # noqa: ANN401 - any JSON value
    """Hold the verdict, its path and its measures to the slow judge's, and the quick proof to the verdict."""
    fault = fault_of(event_type, payload)
    details = None if fault is None else {name: fault.details[name] for name in fault.details if name != "message"}
    assert details == slow_judge.judge(event_type, payload)
    raw_bytes_count = len(json.dumps(payload, ensure_ascii=False).encode())
    assert details is None or not is_plainly_valid(event_type, payload, raw_bytes_count)


@given(spoilt_json)
def test_json_is_judged_by_the_rulings(typed: tuple[str, Any]) -> None:
    """A payload of JSON is valid, or has the kind, the path and the measures of fault, that the slow judge gives."""
    agrees_with_the_slow_judge(*typed)


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


CONTROLS = "\x00" * 12_000
"""Within every universal bound by itself, and beyond the payload's size where it stands twice: six bytes a scalar."""

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 5.0, -0.0, 0.5, 2**53, -(2**53), 2.0**60, "", "deny", "w" * 4096, "w" * 4097, "w" * 16_385,
    CONTROLS, [], [""], [None], ["w" * 4097], [{}], [{"id": "deny", "label": "l"}], [{"id": "a", "label": "w" * 4097}],
    {}, {"inputTokens": -1}, {"unit": 1}, {"question": "q"},
)  # fmt: skip


def bases_of(event_type: str) -> Iterator[dict[str, Any]]:
    """The smallest payload of a type, once for every member of its closed sets and a member of none."""
    yield MINIMAL[event_type]
    for field in VOCABULARY[event_type].fields:
        yield from (MINIMAL[event_type] | {field.name: member} for member in (*field.members, "x") if field.members)


@pytest.mark.parametrize("event_type", VOCABULARY)
def test_every_field_is_judged_by_the_rulings(event_type: str) -> None:
    """Every field of every type, beside every member of its closed sets, missing or with every odd value."""
    for base in bases_of(event_type):
        for field in VOCABULARY[event_type].fields:
            missing = {name: value for name, value in base.items() if name != field.name}
            agrees_with_the_slow_judge(event_type, missing)
            for value in ODD:
                agrees_with_the_slow_judge(event_type, base | {field.name: value})
            for value in (2**53, CONTROLS, "w" * 16_385):
                agrees_with_the_slow_judge(event_type, base | {field.name: value, "unknown": value})


@pytest.mark.parametrize("event_type", VOCABULARY)
def test_every_two_texts_are_judged_by_the_rulings(event_type: str) -> None:
    """Two long texts of control characters in any two text fields, which are small until they are written."""
    names = [field.name for field in VOCABULARY[event_type].fields if field.kind is FieldKind.TEXT]
    for one, other in itertools.combinations(names, 2):
        agrees_with_the_slow_judge(event_type, MINIMAL[event_type] | {one: CONTROLS, other: CONTROLS})


def test_every_timeout_is_judged_by_the_rulings() -> None:
    """Every kind of decision, every timeout, every set of options."""
    options = [[], ["deny"], ["allow"], ["allow", "deny"], ["deny", "allow"]]
    for kind, timeout, ids in itertools.product(["permission", "budget", "x"], ["deny", "allow", ""], options):
        offered = [{"id": name, "label": name} for name in ids]
        payload = MINIMAL["decision.requested"] | {"kind": kind, "onTimeout": timeout, "options": offered}
        agrees_with_the_slow_judge("decision.requested", payload)
