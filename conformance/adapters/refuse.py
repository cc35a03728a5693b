"""The operation `refuse`: what was refused, and the payload of the `capture.refused` that says so.

Spec: Sink guide: refusing a validation error
"""

import json
from typing import Any

import ethogram


def refuse(case: dict[str, Any]) -> dict[str, Any]:
    """Map a refusal to its `capture.refused`.

    Args:
        case: `sourceRunId`, perhaps `sourceSeq` and `sourceType`, and one reason: `type` with `payload` or
            `payloadJson`, to be validated; `expected` and `received`, two numbers of a sequence; or `closed`, a run
            that has ended.

    Returns:
        `refusal`, the payload; null where there is nothing to refuse.

    Spec: Sink guide: refusing a validation error
    """
    error = _error_of(case)
    if error is None:
        return {"refusal": None}
    refusal = ethogram.refusal_of(
        error,
        source_run_id=case["sourceRunId"],
        source_seq=case.get("sourceSeq"),
        source_type=case.get("sourceType"),
    )
    return {"refusal": refusal.payload}


def _error_of(
    case: dict[str, Any],
) -> ethogram.ValidationError | ethogram.SequenceError | ethogram.RunClosedError | None:
    if "closed" in case:
        return ethogram.RunClosedError(case["sourceRunId"])
    if "expected" in case:
        return ethogram.SequenceError(case["sourceRunId"], case["expected"], case["received"])
    payload = json.loads(case["payloadJson"]) if "payloadJson" in case else case["payload"]
    try:
        ethogram.validate(case["type"], payload)
    except ethogram.ValidationError as error:
        return error
    return None
