"""The cross-event check."""

from typing import Any

import pytest

import ethogram
from tests.unit.ethogram.samples import MINIMAL

REQUEST = MINIMAL["decision.requested"]
ANSWER = MINIMAL["decision.answered"]


@pytest.mark.parametrize(
    ("request_change", "answer_change"),
    [
        ({}, {}),
        ({}, {"reversal": "anything", "requestedRunId": "any"}),
        ({"onTimeout": "wait"}, {"byTimeout": True, "optionId": "wait"}),
        ({"onTimeout": "deny"}, {"byTimeout": True, "optionId": "allow"}),
        ({}, {"byTimeout": True, "optionId": "deny"}),
    ],
)
def test_consistent_answers(request_change: dict[str, Any], answer_change: dict[str, Any]) -> None:
    """An offered option fits, and by timeout the request's onTimeout; reversal and run are not looked at."""
    ethogram.validate_decision_answer(REQUEST | request_change, ANSWER | answer_change)


@pytest.mark.parametrize(
    ("request_change", "answer_change", "path"),
    [
        ({}, {"decisionId": "other"}, "answer.payload.decisionId"),
        ({}, {"optionId": "Allow"}, "answer.payload.optionId"),
        ({"options": []}, {}, "answer.payload.optionId"),
        ({"onTimeout": "wait"}, {"optionId": "wait"}, "answer.payload.optionId"),
        ({"onTimeout": "wait"}, {"optionId": "wait", "byTimeout": False}, "answer.payload.optionId"),
        ({}, {"optionId": "wait", "byTimeout": True}, "answer.payload.optionId"),
        ({"options": 1}, {}, "request.payload.options"),
        ({}, {"by": None}, "answer.payload.by"),
    ],
)
def test_inconsistent_answers(request_change: dict[str, Any], answer_change: dict[str, Any], path: str) -> None:
    """Another decision, an option that was not on offer, or a payload that is none, is an error that says where."""
    with pytest.raises(ethogram.DecisionAnswerError) as caught:
        ethogram.validate_decision_answer(REQUEST | request_change, ANSWER | answer_change)
    assert caught.value.path == path
