"""Errors to drafts of `capture.refused`."""

from typing import Any

import pytest

import ethogram
from ethogram import ParseError, RunClosedError, SequenceError, ValidationError
from tests.unit.ethogram.samples import MINIMAL

LONG = "\U0001f600" * 5000
CUT = "\U0001f600" * 4096


def validation_error(event_type: str, payload: Any) -> ValidationError:  # noqa: ANN401 - any Python value
    """The error that `validate` raises."""
    with pytest.raises(ValidationError) as caught:
        ethogram.validate(event_type, payload)
    return caught.value


@pytest.mark.parametrize(
    ("error", "copied"),
    [
        (
            validation_error("agent.warning", {"message": "m" * 4097}),
            {"cause": "over_bound", "field": "payload.message", "count": 4097, "max": 4096},
        ),
        (
            validation_error("x", ["a" * 16_000] * 9),
            {"cause": "over_bound", "field": "payload", "count": 144_028, "max": 131_072},
        ),
        (SequenceError("r", 2, 4), {"cause": "gap", "sourceSeq": 4}),
        (SequenceError("r", 4, 2), {"cause": "duplicate", "sourceSeq": 2}),
        (RunClosedError("r"), {"cause": "finished"}),
    ],
)
def test_causes_follow_the_sink_guide(error: Any, copied: dict[str, Any]) -> None:  # noqa: ANN401 - any refusable error
    """Each kind has its cause and copies exactly the guide's fields."""
    draft = ethogram.refusal_of(error, source_run_id="r")
    assert draft.type == "capture.refused"
    assert draft.payload == {"sourceRunId": "r"} | copied
    ethogram.validate(draft.type, draft.payload)


@pytest.mark.parametrize(
    "error",
    [
        validation_error("run.started", MINIMAL["run.started"] | {"kind": "secret"}),
        validation_error("run.started", {}),
        validation_error("control.requested", MINIMAL["control.requested"] | {"kind": "steer"}),
        validation_error("agent.text", {"text": ["secret"]}),
        ParseError("payload.text", "expected a string, got an array", stage="payload", run_id="q", seq=3, type="t"),
    ],
)
def test_the_rest_is_malformed(error: ValidationError | ParseError) -> None:
    """Every other error is malformed, with its text as detail and no content of the event."""
    draft = ethogram.refusal_of(error, source_run_id="r", source_seq=9, source_type="s")
    assert draft.payload == {
        "cause": "malformed",
        "sourceRunId": "r",
        "sourceSeq": 9,
        "sourceType": "s",
        "detail": str(error),
    }
    assert "secret" not in draft.payload["detail"]


def test_a_parse_error_names_its_source() -> None:
    """What the parser could read is used where the caller knows no better."""
    error = ParseError("seq", "expected", stage="envelope", seq=3, type="t")
    assert ethogram.refusal_of(error, source_run_id="r").payload == {
        "cause": "malformed",
        "sourceRunId": "r",
        "sourceSeq": 3,
        "sourceType": "t",
        "detail": str(error),
    }


def test_long_names_are_cut() -> None:
    """Run id, type, field and detail fit 4,096 scalars; only a cut detail is flagged."""
    over = validation_error("x", {LONG: "a" * 16_385})
    draft = ethogram.refusal_of(over, source_run_id=LONG, source_type=LONG, source_seq=2**53)
    assert draft.payload == {
        "cause": "over_bound",
        "sourceRunId": CUT,
        "sourceType": CUT,
        "field": ("payload." + LONG)[:4096],
        "count": 16_385,
        "max": 16_384,
    }
    malformed = ValidationError(LONG, {"kind": "Malformed", "path": "payload", "message": LONG})
    payload = ethogram.refusal_of(malformed, source_run_id="\ud800").payload
    assert payload == {"cause": "malformed", "sourceRunId": "\ufffd", "detail": CUT, "truncated": True}
    for made in (draft.payload, payload):
        ethogram.validate("capture.refused", made)


def test_other_errors_have_no_cause() -> None:
    """An error of another kind is a mistake of the caller."""
    with pytest.raises(TypeError, match="cause"):
        ethogram.refusal_of(KeyError("x"), source_run_id="r")  # type: ignore[arg-type]  # wrong on purpose
