"""The operation `sink`: a series of appends to one sink in memory, the outcome of each and what is stored.

Spec: The envelope
"""

from typing import Any

import ethogram


def append(case: dict[str, Any]) -> dict[str, Any]:
    """Append drafts and events in order.

    Args:
        case: `clock`, what the sink's clock returns, and `appends`, each `runId` and `draft`, or `event`.

    Returns:
        `outcomes`, one an append, and `stored`, the count of events by run for every run that was named.

    Spec: The envelope
    """
    clock: str = case["clock"]
    sink = ethogram.InMemorySink(clock=lambda: clock)
    outcomes = [_append_one(sink, one) for one in case["appends"]]
    named = [one["runId"] if "draft" in one else _run_id_of(one["event"]) for one in case["appends"]]
    stored = {run_id: len(sink.events(run_id)) for run_id in named if isinstance(run_id, str)}
    return {"outcomes": outcomes, "stored": stored}


def _run_id_of(event: object) -> object:
    return event.get("runId") if isinstance(event, dict) else None


def _append_one(sink: ethogram.InMemorySink, one: dict[str, Any]) -> dict[str, Any]:
    try:
        event = sink.append_draft(one["runId"], one["draft"]) if "draft" in one else sink.append_event(one["event"])
    except ethogram.ParseError:
        return {"error": "rejected"}
    except ethogram.SequenceError as error:
        return {
            "error": "SequenceError",
            "runId": error.run_id,
            "expected": error.expected,
            "received": error.received,
        }
    except ethogram.RunClosedError as error:
        return {"error": "RunClosedError", "runId": error.run_id}
    canonical = ethogram.serialise_event(event).decode()
    return {"accepted": True, "seq": event.seq, "ts": event.ts, "canonical": canonical}
