"""Errors, whatever raised them: they quote no content, make refusals that are valid, and have one canonical form."""

import json
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import EthogramError, EventDraft, ParseError, RunClosedError, SequenceError, ValidationError
from ethogram.errors import shorten_path
from tests.property import naive_writer
from tests.property.strategies import any_texts, odd_values, spoilt_payloads, texts

SECRET = "planted-narration"  # noqa: S105 - a word to look for

Planted = tuple[str, Any]


def plant(value: Any) -> Any:  # noqa: ANN401 - any Python value
    """The value with the secret in all its texts and bytes; keys are left, for paths consist of them."""
    if isinstance(value, dict):
        return {key: plant(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plant(element) for element in value)
    if isinstance(value, str):
        return SECRET + value
    return SECRET.encode() + value if isinstance(value, bytes) else value


def members_of(planted: Planted) -> dict[str, Any]:
    """An event's members around a payload."""
    return {"v": 1, "type": planted[0], "runId": "r", "seq": 1, "ts": "t", "payload": planted[1]}


def parse_text(planted: Planted) -> object:
    """Parse the payload as part of a document, with a fault of JSON behind it."""
    return ethogram.parse_event(json.dumps(members_of(planted), default=str)[:-1] + ',"capturedAt":"t"]')


def fold(planted: Planted) -> object:
    """Fold the payload as that of a start."""
    return ethogram.fold_run([ethogram.Event("run.started", "r", 1, "t", planted[1])])


CALLS: dict[str, Callable[[Planted], object]] = {
    "validate": lambda planted: ethogram.validate(*planted),
    "parse_event": lambda planted: ethogram.parse_event(members_of(planted)),
    "parse_event of text": parse_text,
    "parse_event beside an unknown member": lambda planted: ethogram.parse_event(
        members_of(planted) | {"x": plant("")}
    ),
    "parse_event of a version": lambda planted: ethogram.parse_event(members_of(planted) | {"v": planted[1]}),
    "parse_event of times": lambda planted: ethogram.parse_event(
        members_of(planted) | {"ts": [planted[1]], "capturedAt": planted[1]}
    ),
    "parse_draft": lambda planted: ethogram.parse_draft(EventDraft(*planted)),
    "serialise_event": lambda planted: ethogram.serialise_event(ethogram.Event(planted[0], "r", 1, "t", planted[1])),
    "read_payload": lambda planted: ethogram.read_payload(EventDraft(*planted)),
    "validate_decision_answer": lambda planted: ethogram.validate_decision_answer(planted[1], planted[1]),
    "fold_run": fold,
    "append_draft": lambda planted: ethogram.InMemorySink(validating=True).append_draft("r", EventDraft(*planted)),
}


@pytest.mark.parametrize("name", CALLS)
@given(spoilt_payloads.map(lambda typed: (typed[0], plant(typed[1]))))
def test_no_content_is_quoted(name: str, planted: Planted) -> None:
    """No text of a payload comes out with an error: not its text, path, fields, traceback or the refusal made of it.

    `UnknownMember.value` is the one field that the specification fills with what was sent; it stays out of the rest.
    """
    try:
        CALLS[name](planted)
    except EthogramError as error:
        said = [str(error), *map(str, error.args), *traceback.format_exception(error)]
        said += [repr(value) for field, value in vars(error).items() if field != "details"]
        if isinstance(error, ValidationError):
            is_unknown = error.kind == "UnknownMember"
            said += [repr(value) for field, value in error.details.items() if not (is_unknown and field == "value")]
        if isinstance(error, ValidationError | ParseError):
            said.append(repr(ethogram.refusal_of(error, source_run_id="r", source_type=planted[0])))
        assert SECRET not in "\n".join(said)


def error_of(name: str, planted: Planted) -> EthogramError | None:
    """The error of a call, or None."""
    try:
        CALLS[name](planted)
    except EthogramError as error:
        return error
    return None


places = st.integers(-5, 2**54)

refusable_errors = (
    st.builds(error_of, st.sampled_from(sorted(CALLS)), spoilt_payloads)
    | st.builds(SequenceError, texts, places, places)
    | st.builds(RunClosedError, texts)
).filter(lambda error: isinstance(error, ValidationError | ParseError | SequenceError | RunClosedError))


@given(
    refusable_errors,
    any_texts | st.just("\U0001f600" * 4097),
    st.none() | places,
    st.none() | any_texts | st.just("\ud800" * 4097),
)
def test_every_refusal_is_a_valid_draft(
    error: ValidationError | ParseError | SequenceError | RunClosedError,
    source_run_id: str,
    source_seq: int | None,
    source_type: str | None,
) -> None:
    """Whatever was refused, of whatever run, seq and type, the refusal parses, is valid, and survives a sink."""
    draft = ethogram.refusal_of(error, source_run_id=source_run_id, source_seq=source_seq, source_type=source_type)
    assert draft.type == "capture.refused"
    ethogram.validate(draft.type, draft.payload)
    assert ethogram.parse_draft(draft) == draft
    stored = ethogram.InMemorySink(validating=True).append_draft("own", draft)
    assert ethogram.parse_event(ethogram.serialise_event(stored)).payload == draft.payload
    is_cut = draft.payload.get("truncated", False)
    assert is_cut is (len(str(error)) > 4096 and draft.payload["cause"] == "malformed")


@given(spoilt_payloads | st.tuples(texts, odd_values))
def test_a_validation_error_has_one_canonical_form(typed: tuple[str, Any]) -> None:
    """Its form is that of its fields by the naive writer, the same each time, and changes nothing when read back."""
    error = error_of("validate", typed)
    if error is None:
        return
    assert isinstance(error, ValidationError)
    written = ethogram.serialise_validation_error(error)
    assert written == ethogram.serialise_validation_error(error)
    details = json.loads(written)
    assert naive_writer.write_value(details) == written
    assert ethogram.serialise_validation_error(ValidationError(str(error), details)) == written
    assert details.keys() == error.details.keys()


@given(any_texts | st.text("a\ud800", min_size=250, max_size=300))
def test_paths_in_texts_are_short_and_have_utf8(path: str) -> None:
    """A path inside an error's text is cut at its bound, and can be written to any log; the field keeps it whole."""
    short = shorten_path(path)
    assert len(short.encode().decode()) <= 257
    error = ParseError(path, "expected", stage="payload")
    assert error.path == path
    assert str(error) == f"{short}: expected (payload)"
