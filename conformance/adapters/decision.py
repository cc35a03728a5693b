"""The operation `decision`: a request and an answer, consistent or not.

Spec: Decisions
"""

from typing import Any

import ethogram


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Check `answer` against `request`.

    Spec: Decisions
    """
    try:
        ethogram.validate_decision_answer(case["request"], case["answer"])
    except ethogram.DecisionAnswerError:
        return {"ok": False}
    return {"ok": True}
