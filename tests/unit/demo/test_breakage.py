"""What the demonstration breaks is refused with the cause it says, by the judge itself."""

import pytest

from ethogram import EventDraft, InMemorySink, serialise_event
from relay.demo.breakage import BREAKAGES, Breakage, Sending
from relay.judge.judge import SourceRules, judge
from relay.judge.run_state import RunState
from relay.records import SourceRecord

RULES = SourceRules("s", "demo/", 1_048_588)
DRAFTS = (
    EventDraft("run.started", {"kind": "session", "actor": "a", "harness": "h"}),
    EventDraft("agent.started", {}),
    EventDraft("agent.tool_use", {"tool": "command"}),
    EventDraft("agent.text", {"text": "words \U0001f40b"}),
    EventDraft("agent.tool_result", {"tool": "command"}),
    EventDraft("agent.completed", {}),
    EventDraft("run.finished", {"outcome": "completed", "durationMs": 1}),
)


def recorded() -> list[Sending]:
    """A run as the recorder makes it."""
    sink = InMemorySink()
    return [Sending(b"r", serialise_event(sink.append_draft("r", draft))) for draft in DRAFTS]


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.apply.__name__)
def test_each_record_gets_the_verdict_that_is_foretold(breakage: Breakage) -> None:
    """The demonstration's expectations are the protocol's, and every way of breaking refuses something."""
    sendings = breakage.apply(recorded())
    runs: dict[str, RunState] = {}
    causes = []
    for offset, sending in enumerate(sendings):
        judgement = judge(SourceRecord("s", 0, offset, 1, sending.key, sending.value, None), runs, RULES)
        if judgement.next_state is not None:
            runs[judgement.run_id] = judgement.next_state
        causes.append(None if judgement.refusal is None else judgement.refusal.cause)
    assert causes == [sending.cause for sending in sendings]
    assert any(causes)
