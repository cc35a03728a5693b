"""The cross-event check of a decision's request and its answer.

It is no part of parsing, since the two events are independent on the wire, and it must never look at `requestedRunId`
or `reversal`: only the producer knows which reversals it accepts.

Spec: Decisions
"""

from ethogram.envelope import JsonValue
from ethogram.errors import DecisionAnswerError
from ethogram.representable import find_payload_fault
from ethogram.vocabulary.decision import DECISION_ANSWERED, DECISION_REQUESTED


def validate_decision_answer(request: JsonValue, answer: JsonValue) -> None:
    """Check that an answer belongs to a request and chooses what the request allows.

    An answer by timeout may choose an offered option or the request's `onTimeout`; any other answer an offered option.

    Args:
        request: the payload of a `decision.requested`; not changed.
        answer: the payload of a `decision.answered`; not changed.

    Raises:
        DecisionAnswerError: the decision ids differ, the option was not on offer, or a payload is not representable.

    Spec: Decisions
    """
    for name, event_type, payload in (
        ("request", DECISION_REQUESTED.name, request),
        ("answer", DECISION_ANSWERED.name, answer),
    ):
        fault = find_payload_fault(event_type, payload)
        if fault is not None:
            raise DecisionAnswerError(f"{name}.{fault.path}", fault.fault)
    if answer["decisionId"] != request["decisionId"]:
        raise DecisionAnswerError("answer.payload.decisionId", "expected the request's, got another")
    chosen = answer["optionId"]
    is_offered = any(option["id"] == chosen for option in request["options"])
    is_timeout = answer.get("byTimeout") is True and request.get("onTimeout") == chosen
    if not is_offered and not is_timeout:
        raise DecisionAnswerError("answer.payload.optionId", "expected the id of an offered option, got another")
