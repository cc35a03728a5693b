"""Real recordings in one stream, against counts that are made in another, plainer way."""

import json
import math
import os
from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import pytest

from ethogram import Event, parse_event, stamp
from ethogram.gapless import audit_runs
from ethogram.payloads import AgentToolUse, RunStarted
from ethogram.stream import RootReason, StreamView, fold_stream

DATA_ENV_NAME = "ETHOGRAM_TEST_DATA"
PI_RUN = "3d590428-aea5-53dd-b158-238d71dbdaf2"
"""The session whose aborted answers left calls that no result answers."""
SUBAGENT_RUN = "035080da-0329-5867-97ae-bc595347fca9"

pytestmark = pytest.mark.skipif(DATA_ENV_NAME not in os.environ, reason=f"{DATA_ENV_NAME} is not set: no captures here")

USAGE_NAMES = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")


@pytest.fixture(scope="module")
def documents() -> list[list[bytes]]:
    """The lines of each recording."""
    paths = sorted((Path(os.environ[DATA_ENV_NAME]) / "captures").glob("*/*/events.jsonl"))
    assert len(paths) >= 13, "the captures are there, and found"
    return [path.read_bytes().splitlines() for path in paths]


@pytest.fixture(scope="module")
def events(documents: list[list[bytes]]) -> list[Event]:
    """All recordings as one stream, an event of each in turn."""
    return [parse_event(line) for line in chain.from_iterable(zip_longest(*documents)) if line is not None]


@pytest.fixture(scope="module")
def view(events: list[Event]) -> StreamView:
    """What that stream says."""
    return fold_stream(events)


def test_every_run_is_there_and_gapless(documents: list[list[bytes]], events: list[Event], view: StreamView) -> None:
    """Each recording is one finished run, nothing is odd about it, and nothing is missing."""
    assert len(view.runs) == len(view.finished_runs) == len(documents)
    assert not any(run.oddities for run in view.runs.values())
    assert audit_runs(events).is_gapless
    for lines in documents:
        alone = fold_stream(map(parse_event, lines))
        (run_id,) = alone.runs
        assert alone.runs[run_id] == view.runs[run_id]


def test_runs_say_what_their_lines_say(documents: list[list[bytes]], view: StreamView) -> None:
    """Counts, identity and end of each run, against a reading of its plain JSON."""
    for lines in documents:
        told = [json.loads(line) for line in lines]
        start, finish = told[0]["payload"], told[-1]["payload"]
        run = view.runs[told[0]["runId"]]
        assert dict(run.event_counts) == Counter(one["type"] for one in told)
        assert run.truncated_count == sum(one["payload"].get("truncated", False) for one in told)
        assert (run.kind, run.actor, run.harness, run.model) == (
            start["kind"],
            start["actor"],
            start["harness"],
            start.get("model"),
        )
        assert (run.outcome, run.duration_ms) == (finish["outcome"], finish["durationMs"])
        assert (run.last_seq, run.first_ts, run.last_ts) == (len(told), told[0]["ts"], told[-1]["ts"])


def naive_totals(documents: list[list[bytes]]) -> tuple[float, Counter[str], bool]:
    """Cost and usage of recordings of one session each: what the finish says, which repeats what went before."""
    finishes: list[dict[str, Any]] = [json.loads(lines[-1])["payload"] for lines in documents]
    usage: Counter[str] = Counter()
    for finish in finishes:
        usage.update({name: finish["usage"].get(name, 0) for name in USAGE_NAMES})
    cost = math.fsum(finish.get("costUsd", 0.0) for finish in finishes)
    return cost, usage, any(finish.get("estimated", False) for finish in finishes)


def test_totals_agree_with_a_plain_count(documents: list[list[bytes]], view: StreamView) -> None:
    """Here every run is one session, so its finish alone has its totals: whoever adds completions to it is off."""
    cost, usage, is_estimated = naive_totals(documents)
    totals = view.totals
    assert (totals.cost_usd, totals.is_estimated) == (cost, is_estimated)
    assert totals.session_count == totals.run_count == len(documents)
    tokens = totals.tokens
    assert [usage[name] for name in USAGE_NAMES] == [
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cache_read_tokens,
        tokens.cache_creation_tokens,
    ]
    assert totals.usage == (tokens,)


def test_every_call_is_paired_but_for_aborted_answers(documents: list[list[bytes]], view: StreamView) -> None:
    """The open calls are those whose id has no result in the recording: 18 of the session that was aborted."""
    answered = {
        (one["runId"], one["payload"]["toolUseId"])
        for one in map(json.loads, chain.from_iterable(documents))
        if one["type"] == "agent.tool_result"
    }
    for run in view.runs.values():
        assert run.unpaired_results == ()
        assert all((run.run_id, call.tool_use_id) not in answered for call in run.open_calls)
        assert len(run.open_calls) == (18 if run.run_id == PI_RUN else 0)
        for call in run.calls:
            assert call.result is None or call.result.tool_use_id == call.tool_use_id
            assert call.result_seq is None or call.result_seq > call.seq
            assert call.duration_ms is None or call.duration_ms >= 0


def test_the_subagents_run_hangs_below_its_parent(events: list[Event], view: StreamView) -> None:
    """Without its parent it is a root that says so; with the parent, which is not recorded, it hangs below the call."""
    reasons = {root.run.run_id: root.reason for root in view.roots}
    assert reasons.pop(SUBAGENT_RUN) is RootReason.ABSENT_PARENT
    assert set(reasons.values()) == {RootReason.NO_PARENT}
    child = view.runs[SUBAGENT_RUN]
    assert child.parent_run_id is not None
    drafts = [
        RunStarted(kind="session", actor="ada", harness="claude-code").draft(),
        AgentToolUse(tool="Task", tool_use_id=child.parent_tool_use_id).draft(),
    ]
    parent = [stamp(draft, run_id=child.parent_run_id, seq=seq, ts="t") for seq, draft in enumerate(drafts, start=1)]
    whole = fold_stream([*events, *parent])
    assert [run.run_id for run in whole.ancestors_of(SUBAGENT_RUN)] == [child.parent_run_id]
    assert whole.calling_call(SUBAGENT_RUN) == whole.runs[child.parent_run_id].calls[0]
    assert whole.tree_totals_of(child.parent_run_id).tokens == view.totals_of(SUBAGENT_RUN).tokens
    assert whole.runs[SUBAGENT_RUN] == child
