"""The operation `validate`: a type and a payload, valid or one structured error.

Spec: Sink guide: refusing a validation error
"""

import json
from typing import Any

import ethogram

# Their message is theirs to word, so their canonical JSON is not compared either.
_WORDED_KINDS = frozenset({"Policy", "Malformed"})


def check(case: dict[str, Any]) -> dict[str, Any]:
    """Validate a payload.

    Args:
        case: `type`, and `payload` or `payloadJson`, JSON text whose spelling of numbers matters.

    Returns:
        `ok`; where it is false, `error`, and `canonical` for the kinds that the protocol words.

    Spec: Sink guide: refusing a validation error
    """
    payload = json.loads(case["payloadJson"]) if "payloadJson" in case else case["payload"]
    try:
        ethogram.validate(case["type"], payload)
    except ethogram.ValidationError as error:
        verdict: dict[str, Any] = {"ok": False, "error": error.details}
        if error.kind not in _WORDED_KINDS:
            verdict["canonical"] = ethogram.serialise_validation_error(error).decode()
        return verdict
    return {"ok": True}
