"""Which result answers which call."""

from typing import Any

from ethogram.stream import StreamRun
from tests.unit.ethogram.stream.script import Script


def told(*steps: tuple[str, dict[str, Any]]) -> StreamRun:
    """A run of calls (`use`) and results (`result`)."""
    script = Script()
    for kind, fields in steps:
        script.tell("r", f"agent.tool_{kind}", **fields)
    return script.view().runs["r"]


def pairs(run: StreamRun) -> dict[int, int | None]:
    """The `seq` of each call's result."""
    return {call.seq: call.result_seq for call in run.calls}


def test_a_result_answers_the_call_of_its_id() -> None:
    """The call tells what the result says and how long it took."""
    script = Script().tell("r", "agent.tool_use", tool="Bash", toolUseId="u", ts="2026-01-01T00:00:00Z")
    script.tell("r", "agent.tool_result", tool="Bash", toolUseId="u", isError=True, ts="2026-01-01T01:00:00.5+01:00")
    (call,) = script.view().runs["r"].calls
    assert (call.tool, call.tool_use_id, call.parent_tool_use_id, call.seq) == ("Bash", "u", None, 1)
    assert (call.result_seq, call.is_error, call.duration_ms) == (2, True, 500.0)


def test_an_open_call_says_nothing_of_its_result() -> None:
    """No result, no error, no duration."""
    run = told(("use", {"toolUseId": "u"}))
    assert run.open_calls == run.calls
    assert (run.calls[0].result_seq, run.calls[0].is_error, run.calls[0].duration_ms) == (None, None, None)


def test_stamps_that_are_no_time_give_no_duration() -> None:
    """`ts` may be any string."""
    script = Script().tell("r", "agent.tool_use", toolUseId="u", ts="now").tell("r", "agent.tool_result", toolUseId="u")
    assert script.view().runs["r"].calls[0].duration_ms is None


def test_calls_in_parallel_are_told_apart_by_id() -> None:
    """Results may come in another order than their calls."""
    run = told(*[("use", {"toolUseId": one}) for one in "abc"], *[("result", {"toolUseId": one}) for one in "cab"])
    assert pairs(run) == {1: 5, 2: 6, 3: 4}


def test_an_id_that_is_used_again_is_answered_in_turn() -> None:
    """Of open calls with one id the oldest is answered first; one that was answered is not answered again."""
    use, result = ("use", {"toolUseId": "u"}), ("result", {"toolUseId": "u"})
    assert pairs(told(use, use, result, result)) == {1: 3, 2: 4}
    assert pairs(told(use, result, use, result)) == {1: 2, 3: 4}
    run = told(use, result, result, use)
    assert pairs(run) == {1: 2, 4: None}
    assert [one.seq for one in run.unpaired_results] == [3]


def test_tool_and_parent_choose_among_calls_of_one_id() -> None:
    """A result prefers the oldest open call with its tool and its parent, and takes the oldest where none has them."""
    bash, read = {"tool": "Bash", "toolUseId": "u"}, {"tool": "Read", "toolUseId": "u"}
    nested = {"tool": "Bash", "toolUseId": "u", "parentToolUseId": "p"}
    other = {"tool": "Grep", "toolUseId": "u"}
    run = told(("use", bash), ("use", nested), ("use", read), ("result", read), ("result", nested), ("result", bash))
    assert pairs(run) == {1: 6, 2: 5, 3: 4}
    # The stale front of a queue is passed over: call 2 was answered by preference, then strangers take the oldest.
    run = told(("use", bash), ("use", read), ("use", bash), ("result", read), ("result", other), ("result", other))
    assert pairs(run) == {1: 5, 2: 4, 3: 6}
    run = told(("use", bash), ("use", bash), ("result", other), ("result", bash), ("result", bash))
    assert pairs(run) == {1: 3, 2: 4}
    assert [one.seq for one in run.unpaired_results] == [5]


def test_calls_and_results_without_an_id_stay_apart() -> None:
    """Without an id nothing says which belongs to which, so both are listed unpaired."""
    run = told(("use", {}), ("result", {}), ("result", {"toolUseId": "u"}))
    assert pairs(run) == {1: None}
    assert [one.seq for one in run.unpaired_results] == [2, 3]


def test_ids_are_of_one_run() -> None:
    """A result on another run answers nothing here."""
    script = Script().tell("r", "agent.tool_use", toolUseId="u").tell("q", "agent.tool_result", toolUseId="u")
    assert script.view().runs["r"].calls[0].result is None


def test_the_first_call_of_an_id_is_found() -> None:
    """A call can be asked for by its id."""
    run = told(("use", {"tool": "a", "toolUseId": "u"}), ("use", {"tool": "b", "toolUseId": "u"}))
    found = run.call("u")
    assert found is not None
    assert found.tool == "a"
    assert run.call("other") is None
