"""What a judgement tells, and the states that several tests start from."""

from typing import Any

import ethogram
from relay.judge.judge import SourceRules, judge
from relay.judge.run_state import RunState
from relay.judge.verdict import Judgement, Refusal
from relay.records import SourceRecord
from tests.unit.relay.samples import rules

NO_RUNS: dict[str, RunState] = {}
OPEN_AT_3 = {"r": RunState(3, finished=False, source="a")}
FINISHED_AT_3 = {"r": RunState(3, finished=True, source="a")}


def refused(judgement: Judgement) -> Refusal:
    """The refusal of a judgement; whatever it is, its draft is a valid `capture.refused`."""
    assert judgement.refusal is not None
    draft = judgement.refusal.draft
    assert draft.type == "capture.refused"
    ethogram.validate(draft.type, draft.payload)
    assert draft.payload["cause"] == judgement.refusal.cause.value
    return judgement.refusal


def payload_of(source: SourceRecord, runs: dict[str, RunState] = NO_RUNS, how: SourceRules | None = None) -> Any:  # noqa: ANN401 - JSON
    """The payload of the refusal of a record."""
    return refused(judge(source, runs, how or rules())).draft.payload
