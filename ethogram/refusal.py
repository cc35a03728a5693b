"""An error to the draft of a `capture.refused`.

It must never put the content that was refused into a draft, and every draft it makes passes `validate`.

Spec: Sink guide: refusing a validation error
"""

from ethogram import errors
from ethogram.bounds import MAX_EXCERPT_SCALARS
from ethogram.envelope import EventDraft, JsonValue, is_seq
from ethogram.errors import ParseError, RunClosedError, SequenceError, ValidationError
from ethogram.excerpt import excerpt
from ethogram.vocabulary import capture

RefusableError = ValidationError | ParseError | SequenceError | RunClosedError


def refusal_of(
    error: RefusableError,
    *,
    source_run_id: str,
    source_seq: int | None = None,
    source_type: str | None = None,
) -> EventDraft:
    """Draft the record of a refusal, to be stamped on the capturing runtime's own run.

    Args:
        error: why the event was refused.
        source_run_id: the run of the refused event; excerpted to 4,096 scalars, as is `source_type`.
        source_seq: its 1-based `seq`; by default what the error knows of it. What is no `seq` is left out.
        source_type: its type; by default what the error knows of it.

    Returns:
        A draft of `capture.refused`. `truncated` is there, and true, only when `detail` was cut.

    Raises:
        TypeError: the error is of no kind that has a cause.

    Spec: Sink guide: refusing a validation error
    """
    payload: dict[str, JsonValue] = {"cause": _cause_of(error), "sourceRunId": _bounded(source_run_id)}
    if isinstance(error, ParseError):
        source_seq = error.seq if source_seq is None else source_seq
        source_type = error.type if source_type is None else source_type
    elif isinstance(error, SequenceError) and source_seq is None:
        source_seq = error.received
    if is_seq(source_seq):
        payload["sourceSeq"] = source_seq
    if source_type is not None:
        payload["sourceType"] = _bounded(source_type)
    if payload["cause"] == capture.CAUSE_OVER_BOUND:
        payload.update(_measures_of(error))
    elif payload["cause"] == capture.CAUSE_MALFORMED:
        detail = excerpt(str(error), MAX_EXCERPT_SCALARS)
        payload["detail"] = detail.text
        if detail.truncated:
            payload["truncated"] = True
    return EventDraft(capture.CAPTURE_REFUSED.name, payload)


def _bounded(text: str) -> str:
    return excerpt(text, MAX_EXCERPT_SCALARS).text


def _cause_of(error: RefusableError) -> str:
    match error:
        case ValidationError(kind=errors.OVER_BOUND | errors.PAYLOAD_TOO_LARGE):
            return capture.CAUSE_OVER_BOUND
        case ValidationError() | ParseError():
            return capture.CAUSE_MALFORMED
        case SequenceError():
            return capture.CAUSE_GAP if error.received > error.expected else capture.CAUSE_DUPLICATE
        case RunClosedError():
            return capture.CAUSE_FINISHED
    raise TypeError(f"error: expected one that has a cause, got a {type(error).__name__}")


def _measures_of(error: RefusableError) -> dict[str, JsonValue]:
    """The field and its two measures; the content that exceeded the bound stays out."""
    details = error.details if isinstance(error, ValidationError) else {}
    return {
        "field": _bounded(str(details.get("path", "payload"))),
        "count": details.get("count", details.get("bytes")),
        "max": details["max"],
    }
