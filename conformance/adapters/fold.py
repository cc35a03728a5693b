"""The operation `fold`: events in order, one run, none, or an error.

Spec: Run lifecycle
"""

from typing import Any

import ethogram


def fold(case: dict[str, Any]) -> dict[str, Any]:
    """Fold `events`, given as dicts.

    Spec: Run lifecycle
    """
    try:
        view = ethogram.fold_run([ethogram.parse_event(event) for event in case["events"]])
    except (ethogram.ParseError, ethogram.FoldError):
        return {"error": True}
    return {"run": None if view is None else view.to_dict()}
