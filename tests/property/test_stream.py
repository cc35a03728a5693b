"""Folds and audits of streams: any interleaving, any split, against models kept as simply as can be."""

from collections.abc import Callable
from functools import partial
from itertools import groupby
from math import fsum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ethogram import EthogramError, Event, fold_run, prove_gapless
from ethogram.gapless import audit_runs
from ethogram.seqs import SeqCursor, SeqPlace
from ethogram.stream import StreamFold, StreamView, fold_stream
from tests.property import strategies
from tests.unit.ethogram.samples import MINIMAL

RUN_IDS = ("a", "b", "c", "relay")
IDS = st.sampled_from(["u", "v"])
COSTS = st.sampled_from([0, 0.1, 0.2, 0.3, 1, 2.5, 1e15, -1e15, 1e-9])

_run_ids = st.sampled_from([*RUN_IDS, "elsewhere"])

_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "run.started": {"parentRunId": _run_ids, "harness": st.sampled_from(["h", "i"])},
    "run.finished": {"costUsd": COSTS, "usage": st.builds(dict, inputTokens=st.integers(0, 9))},
    "agent.started": {"sessionId": IDS},
    "agent.tool_use": {"toolUseId": IDS, "parentToolUseId": IDS, "tool": IDS},
    "agent.tool_result": {"toolUseId": IDS, "parentToolUseId": IDS, "tool": IDS},
    "agent.completed": {
        "sessionId": IDS,
        "costUsd": COSTS,
        "estimated": st.booleans(),
        "usage": st.fixed_dictionaries({}, optional={"inputTokens": st.integers(0, 9), "unit": IDS}),
    },
    "control.requested": {"controlId": IDS},
    "control.applied": {"controlId": IDS},
    "capture.refused": {"sourceRunId": _run_ids, "sourceSeq": st.integers(0, 12)},
    "decision.requested": {"decisionId": IDS},
    "decision.answered": {"decisionId": IDS, "requestedRunId": _run_ids},
    "x.unknown": {},
}
"""Fields from few values, so that ids meet; each is there or not."""


def _payloads(event_type: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    fields = st.fixed_dictionaries({}, optional=_FIELDS[event_type])
    return fields.map(lambda given: (event_type, MINIMAL.get(event_type, {}) | given))


_told = st.sampled_from(sorted(_FIELDS)).flatmap(_payloads) | strategies.typed_payloads

_runs = st.lists(st.tuples(_told, st.sampled_from([1, 1, 1, 1, 1, 1, 2, 4, 0, -2])), max_size=14)
"""What a run tells, and the step of `seq` to each event: mostly 1, now and then a hole, a repeat or a step back."""


def _stamp_run(run_id: str, told: list[tuple[tuple[str, dict[str, Any]], int]]) -> list[Event]:
    events, seq = [], 0
    for (event_type, payload), step in told:
        seq = max(1, seq + step)
        events.append(Event(event_type, run_id, seq, "t", payload))
    return events


@st.composite
def _streams(draw: st.DrawFn, count: int = 1) -> list[list[Event]]:
    """Interleavings of the same runs."""
    runs = {run_id: _stamp_run(run_id, draw(_runs)) for run_id in RUN_IDS}
    places = [run_id for run_id, events in runs.items() for _event in events]
    found = []
    for _index in range(count):
        events = {run_id: iter(told) for run_id, told in runs.items()}
        found.append([next(events[run_id]) for run_id in draw(st.permutations(places))])
    return found


@given(_streams(count=2))
def test_any_interleaving_shows_the_same(streams: list[list[Event]]) -> None:
    """Only the order within a run matters: views, totals, trees and audits of two interleavings are equal."""
    one, other = map(fold_stream, streams)
    assert one == other
    assert one.totals == other.totals
    for run_id in one.runs:
        assert one.tree_totals_of(run_id) == other.tree_totals_of(run_id)
        assert one.ancestors_of(run_id) == other.ancestors_of(run_id)
    assert audit_runs(streams[0]) == audit_runs(streams[1])


@given(_streams(), st.sets(st.integers(0, 60)))
def test_any_split_shows_the_same(streams: list[list[Event]], looks: set[int]) -> None:
    """Looking in between changes nothing, and each look shows what a fold of the events so far shows."""
    (events,) = streams
    fold = StreamFold()
    for index, event in enumerate(events):
        if index in looks:
            assert fold.view() == fold_stream(events[:index])
        fold.add(event)
    assert fold.view() == fold_stream(events)


@given(_streams())
def test_a_stream_that_is_read_again_costs_the_same(streams: list[list[Event]]) -> None:
    """Whatever comes again is counted nowhere."""
    (events,) = streams
    once, again = fold_stream(events), fold_stream([*events, *events])
    assert again.totals == once.totals
    assert [run.event_counts for run in again.runs.values()] == [run.event_counts for run in once.runs.values()]
    assert [run.calls for run in again.runs.values()] == [run.calls for run in once.runs.values()]


def _first_of_each_seq(events: list[Event]) -> list[Event]:
    seen: set[tuple[str, int]] = set()
    kept = []
    for one in events:
        if (one.run_id, one.seq) not in seen:
            seen.add((one.run_id, one.seq))
            kept.append(one)
    return kept


@given(_streams())
def test_calls_are_paired_as_a_search_would(streams: list[list[Event]]) -> None:
    """Against a model that looks through all open calls for each result."""
    for run in fold_stream(streams[0]).runs.values():
        events = [one for one in _first_of_each_seq(streams[0]) if one.run_id == run.run_id]
        assert [(call.seq, call.result_seq) for call in run.calls] == _search_pairs(events)
        paired = {call.result_seq for call in run.calls}
        results = [one.seq for one in events if one.type == "agent.tool_result"]
        assert [one.seq for one in run.unpaired_results] == [seq for seq in results if seq not in paired]


def _search_pairs(events: list[Event]) -> list[tuple[int, int | None]]:
    calls: list[tuple[Event, Event | None]] = []
    for event in events:
        if event.type == "agent.tool_use":
            calls.append((event, None))
        if event.type != "agent.tool_result" or "toolUseId" not in event.payload:
            continue
        is_open: list[int] = [
            index for index, (use, result) in enumerate(calls) if result is None and _fits(use, event, "toolUseId")
        ]
        exact = [index for index in is_open if _fits(calls[index][0], event, "tool", "parentToolUseId")]
        for index in (exact or is_open)[:1]:
            calls[index] = (calls[index][0], event)
    return [(use.seq, None if result is None else result.seq) for use, result in calls]


def _fits(use: Event, result: Event, *names: str) -> bool:
    return all(use.payload.get(name) == result.payload.get(name) for name in names)


@given(_streams())
def test_costs_are_the_sum_of_highest_costs(streams: list[list[Event]]) -> None:
    """Against a model of agents alone: no start names a harness, and no finish tells a cost."""
    kept = [one for one in _first_of_each_seq(streams[0]) if one.type in {"agent.started", "agent.completed"}]
    highest: dict[str, float] = {}
    current: dict[str, str] = {}
    for event in kept:
        session_id = event.payload.get("sessionId")
        if event.type == "agent.started":
            current[event.run_id] = f"own {event.run_id}" if session_id is None else f"id {session_id}"
            continue
        own = current.get(event.run_id, f"own {event.run_id}")
        key = own if session_id is None else f"id {session_id}"
        cost = event.payload.get("costUsd")
        if cost is not None:
            highest[key] = max(highest.get(key, -1e99), cost)
    assert fold_stream(kept).totals.cost_usd == (fsum(highest.values()) if highest else None)


def _outcome(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work gives, or None
    try:
        return work()
    except EthogramError:
        return None


@given(_streams())
def test_an_audit_is_gapless_where_the_proof_holds(streams: list[list[Event]]) -> None:
    """The audit finds a fault exactly where the proof stops at one, and the same last numbers where it does not."""
    (events,) = streams
    proved = _outcome(lambda: prove_gapless(events))
    audit = audit_runs(events)
    assert audit.is_gapless is (proved is not None)
    if proved is not None:
        assert audit.last_seqs == proved


@given(_streams())
def test_an_audit_misses_no_missing_number(streams: list[list[Event]]) -> None:
    """Against sets: what is missing below the last number, and which of it no refusal names."""
    (events,) = streams
    audit = audit_runs(events)
    named = {
        (one.payload["sourceRunId"], one.payload.get("sourceSeq")) for one in events if one.type == "capture.refused"
    }
    for run in audit.runs.values():
        seen = {one.seq for one in events if one.run_id == run.run_id}
        missing = set(range(1, run.last_seq + 1)) - seen
        assert missing == {seq for hole in run.holes for seq in range(hole.first_seq, hole.last_seq + 1)}
        unexplained = {
            seq for hole in run.holes for part in hole.unexplained for seq in range(part.first_seq, part.last_seq + 1)
        }
        assert unexplained == {seq for seq in missing if (run.run_id, seq) not in named}
        tail = {one.source_seq for one in run.tail.refusals} if run.tail is not None else set()
        assert tail == {seq for run_id, seq in named if run_id == run.run_id and seq and seq > run.last_seq}
    assert audit.render().count("\n") >= 3


@given(_streams())
def test_a_run_is_what_the_fold_of_one_run_says(streams: list[list[Event]]) -> None:
    """Where that fold makes a run of its events, kind, actor, harness, outcome and duration are the same."""
    kept = _first_of_each_seq(streams[0])
    for run_id, run in fold_stream(kept).runs.items():
        own = [one for one in kept if one.run_id == run_id]
        folded = _outcome(partial(fold_run, own))
        if folded is not None:
            assert (run.kind, run.actor, run.harness) == (folded.kind, folded.actor, folded.harness)
            assert (run.outcome, run.duration_ms) == (folded.outcome, folded.duration_ms)


@given(st.lists(st.integers(1, 12), max_size=30), st.integers(1, 4))
def test_a_cursor_is_a_set_of_numbers(seqs: list[int], begin_seq: int) -> None:
    """Against a set of what was taken."""
    cursor, taken = SeqCursor(begin_seq), set(range(1, begin_seq))
    for seq in seqs:
        highest = max(taken, default=0)
        if seq in taken:
            expected = SeqPlace.REPEAT
        elif seq < highest:
            expected = SeqPlace.LATE
        else:
            expected = SeqPlace.NEXT if seq == highest + 1 else SeqPlace.AHEAD
        assert cursor.take(seq) is expected
        taken.add(seq)
        missing = sorted(set(range(1, max(taken))) - taken)
        assert [one for first, last in cursor.missing() for one in range(first, last + 1)] == missing
        ranges = groupby(enumerate(missing), lambda pair: pair[1] - pair[0])
        assert len(cursor.missing()) == len(list(ranges)), "neighbours are one range"


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefghx") | st.none()), max_size=10))
def test_a_walk_meets_every_run_once(declared: list[tuple[str, str | None]]) -> None:
    """Whatever runs declare, rings too: the tree is a forest of all of them, and ancestors are the way back."""
    events = [
        Event("run.started", run_id, 1, "t", MINIMAL["run.started"] | ({"parentRunId": parent} if parent else {}))
        for run_id, parent in declared
    ]
    view: StreamView = fold_stream(events)
    steps = list(view.walk())
    assert sorted(step.run.run_id for step in steps) == sorted(view.runs)
    for step in steps:
        assert len(view.ancestors_of(step.run.run_id)) == step.depth
        for child in view.children_of(step.run.run_id):
            assert view.parent_of(child.run_id) == step.run
