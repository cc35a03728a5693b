"""A sink in memory against a model: what a run takes next, whether it is finished, what it holds."""

from typing import Any

import ethogram
from ethogram import Event, EventDraft, InMemorySink, ParseError, RunClosedError, SequenceError
from tests.fuzz.building import build_members, mutate
from tests.fuzz.checks import expect, find_fault
from tests.fuzz.choices import Choices

_TS = "2026-01-01T00:00:00.000Z"
_RUNS = ("a", "b", "")
_SERIES_MAX = 12


class Model:
    """Runs as lists, judged by the spec's sentences: it parses, its run is open, its seq is the next."""

    def __init__(self, *, validating: bool) -> None:
        """Begin with no run."""
        self.validating = validating
        self.runs: dict[str, list[Event]] = {}

    def judge(self, members: dict[str, Any]) -> str:
        """The name of the outcome of an append; one that is accepted is held."""
        try:
            event = ethogram.parse_event(members)
        except ParseError:
            return "ParseError"
        if self.validating and find_fault(event.type, event.payload) is not None:
            return "ValidationError"
        held = self.runs.setdefault(event.run_id, [])
        if held and held[-1].type == "run.finished":
            return "RunClosedError"
        if event.seq != len(held) + 1:
            return f"SequenceError {len(held) + 1} {event.seq}"
        held.append(event)
        return "accepted"


def run_series(choices: Choices) -> None:
    """Append a few drafts and events, and hold every outcome and all that is stored to the model."""
    model = Model(validating=choices.chance(2))
    sink = InMemorySink(clock=lambda: _TS, validating=model.validating)
    for _ in range(choices.below(_SERIES_MAX)):
        run_id = choices.pick(_RUNS)
        members = build_members(choices) | {"runId": run_id}
        if choices.chance(3):
            members |= {"type": "run.finished", "payload": {"outcome": "completed", "durationMs": 1}}
        mutate(members, choices)
        if choices.chance(2):
            _append_event(sink, model, members, choices)
        else:
            _append_draft(sink, model, members, run_id)
        for name in _RUNS:
            expect(list(sink.events(name)) == model.runs.get(name, []), "the sink holds what the model holds")


def _append_event(sink: InMemorySink, model: Model, members: dict[str, Any], choices: Choices) -> None:
    if choices.below(4):  # Mostly the next, for little can be learnt from gaps alone.
        members["seq"] = len(model.runs.get(str(members.get("runId")), [])) + 1
    wanted = model.judge(members)
    expect(_outcome(lambda: sink.append_event(members)) == wanted, "an event's outcome is the model's")


def _append_draft(sink: InMemorySink, model: Model, members: dict[str, Any], run_id: str) -> None:
    draft: dict[str, Any] = {name: members[name] for name in ("type", "payload", "capturedAt") if name in members}
    seq = len(model.runs.get(run_id, [])) + 1
    wanted = model.judge({"v": 1, "runId": run_id, "seq": seq, "ts": _TS, **draft})
    given = _outcome(lambda: sink.append_draft(run_id, draft))
    expect(given == wanted, "a draft's outcome is the model's")
    if wanted == "accepted":
        typed = EventDraft(draft["type"], draft["payload"], draft.get("capturedAt"))
        expect(ethogram.parse_draft(draft) == typed, "a draft's members read as the draft")


def _outcome(append: Any) -> str:  # noqa: ANN401 - a call without arguments
    try:
        append()
    except SequenceError as error:
        return f"SequenceError {error.expected} {error.received}"
    except (ParseError, RunClosedError, ethogram.ValidationError) as error:
        return type(error).__name__
    return "accepted"
