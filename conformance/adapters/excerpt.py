"""The operation `excerpt`: a text and a bound, the kept text and the truncation flag.

Spec: On narration
"""

from typing import Any

import ethogram


def cut(case: dict[str, Any]) -> dict[str, Any]:
    """Cut `text` at `max` scalars.

    Spec: On narration
    """
    try:
        kept = ethogram.excerpt(case["text"], case["max"])
    except ValueError:
        return {"error": True}
    return {"text": kept.text, "truncated": kept.truncated}
