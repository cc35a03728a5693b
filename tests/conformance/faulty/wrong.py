"""Kits with one defect each, of the kinds that real ones have."""

import json
from collections.abc import Callable
from typing import Any

import ethogram
from conformance.adapters import ADAPTERS

Case = dict[str, Any]


def utf16_excerpt(case: Case) -> Case:
    """Counts UTF-16 units, as JavaScript's own length does, and may cut a scalar in two."""
    units = case["text"].encode("utf-16-le", "surrogatepass")
    if case["max"] < 0:
        return {"error": True}
    kept = units[: 2 * case["max"]]
    return {"text": kept.decode("utf-16-le", "surrogatepass"), "truncated": len(kept) < len(units)}


def utf16_order(case: Case) -> Case:
    """Writes payload keys in the order of their UTF-16 units."""
    verdict = ADAPTERS["parse"](case)
    if not verdict.get("accept"):
        return verdict
    event = json.loads(verdict["canonical"])
    event["payload"] = _ordered(event["payload"])
    return {"accept": True, "canonical": json.dumps(event, ensure_ascii=False, separators=(",", ":"))}


def _ordered(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return {name: _ordered(value[name]) for name in names}
    return [_ordered(element) for element in value] if isinstance(value, list) else value


def last_member_wins(case: Case) -> Case:
    """Takes a document that spells a member of the envelope twice."""
    verdict = ADAPTERS["parse"](case)
    if verdict.get("accept") or "raw" not in case:
        return verdict
    try:
        members = json.loads(case["raw"])
        return {"accept": True, "canonical": ethogram.serialise_event(ethogram.parse_event(members)).decode()}
    except (ValueError, TypeError, RecursionError):
        return verdict


def renumbering_sink(case: Case) -> Case:
    """Gives a stamped event that leaves a gap the next number, where it has to refuse it."""
    sink = ethogram.InMemorySink(clock=lambda: str(case["clock"]))
    outcomes: list[Case] = []
    named: list[Any] = []
    for one in case["appends"]:
        event = one.get("event")
        run_id: Any = one.get("runId", event.get("runId") if isinstance(event, dict) else None)
        named.append(run_id)
        try:
            if "draft" in one:
                kept = sink.append_draft(run_id, one["draft"])
            else:
                kept = sink.append_event(event | {"seq": len(sink.events(run_id)) + 1})
        except ethogram.RunClosedError as error:
            outcomes.append({"error": "RunClosedError", "runId": error.run_id})
        except (ethogram.EthogramError, TypeError):
            outcomes.append({"error": "rejected"})
        else:
            canonical = ethogram.serialise_event(kept).decode()
            outcomes.append({"accepted": True, "seq": kept.seq, "ts": kept.ts, "canonical": canonical})
    return {"outcomes": outcomes, "stored": {name: len(sink.events(name)) for name in named if isinstance(name, str)}}


def leaking_refusal(case: Case) -> Case:
    """Copies the content that exceeded a bound into its refusal."""
    verdict = ADAPTERS["refuse"](case)
    if verdict["refusal"] is not None and verdict["refusal"]["cause"] == "over_bound":
        verdict["refusal"]["detail"] = str(case["payload"])[:100]
    return verdict


WRONG: dict[str, tuple[str, Callable[[Case], Case]]] = {
    "utf16-excerpt": ("excerpt", utf16_excerpt),
    "utf16-order": ("parse", utf16_order),
    "last-member-wins": ("parse", last_member_wins),
    "renumbering-sink": ("sink", renumbering_sink),
    "leaking-refusal": ("refuse", leaking_refusal),
}
"""Which operation each of them gets wrong, and how."""
