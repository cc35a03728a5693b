"""The tree of parents, whatever the runs declare."""

from typing import Any

import pytest

from ethogram.stream import RootReason, StreamView
from tests.unit.ethogram.stream.script import Script


def planted(**parents: str | None) -> StreamView:
    """A stream of runs with these declared parents."""
    script = Script()
    for run_id, parent in parents.items():
        declared: dict[str, Any] = {} if parent is None else {"parentRunId": parent}
        script.tell(run_id, "run.started", **declared)
    return script.view()


def reasons(view: StreamView) -> dict[str, RootReason]:
    """Why each root is one."""
    return {root.run.run_id: root.reason for root in view.roots}


def walked(view: StreamView, run_id: str | None = None) -> list[tuple[int, str]]:
    """The depth and id of each run on a walk."""
    return [(step.depth, step.run.run_id) for step in view.walk(run_id)]


def test_parents_and_children_find_each_other() -> None:
    """Children may be seen before their parents; a walk goes through each run once, parents first."""
    view = planted(c="b", b="a", a=None, d="a", z=None)
    assert reasons(view) == {"a": RootReason.NO_PARENT, "z": RootReason.NO_PARENT}
    assert walked(view) == [(0, "a"), (1, "b"), (2, "c"), (1, "d"), (0, "z")]
    assert walked(view, "b") == [(0, "b"), (1, "c")]
    assert [run.run_id for run in view.children_of("a")] == ["b", "d"]
    assert [run.run_id for run in view.ancestors_of("c")] == ["b", "a"]
    assert view.ancestors_of("a") == ()
    assert view.parent_of("a") is None


def test_a_parent_outside_the_stream_is_said_to_be_absent() -> None:
    """A run whose parent is unknown is a root that says so; one whose start was missed may have one."""
    view = Script().tell("r", "run.started", parentRunId="elsewhere").tell("q", "agent.text", at=7).view()
    assert reasons(view) == {"r": RootReason.ABSENT_PARENT, "q": RootReason.START_UNSEEN}
    assert view.calling_call("r") is None


def test_a_run_that_declares_itself_is_a_root() -> None:
    """No run is its own child."""
    view = planted(r="r", c="r")
    assert reasons(view) == {"r": RootReason.OWN_PARENT}
    assert walked(view) == [(0, "r"), (1, "c")]


def test_a_ring_of_parents_is_cut_once() -> None:
    """The ring's lowest id is its root, whichever run is seen first; what hangs below the ring is walked too."""
    expected = [(0, "a"), (1, "b"), (2, "c"), (3, "below")]
    for view in (planted(a="c", b="a", c="b", below="c"), planted(below="c", c="b", b="a", a="c")):
        assert reasons(view) == {"a": RootReason.CYCLE}
        assert walked(view) == expected
    assert [run.run_id for run in view.ancestors_of("c")] == ["b", "a"]


def test_two_rings_are_cut_each() -> None:
    """Every ring has its own cut."""
    view = planted(a="b", b="a", c="d", d="c", e="a")
    assert reasons(view) == {"a": RootReason.CYCLE, "c": RootReason.CYCLE}
    assert sorted(run_id for _depth, run_id in walked(view)) == ["a", "b", "c", "d", "e"]


def test_a_very_deep_tree_is_walked() -> None:
    """Depth is no matter: nothing recurses."""
    parents = {f"run-{depth}": f"run-{depth - 1}" if depth else None for depth in range(5_000)}
    view = planted(**parents)
    assert walked(view)[-1] == (4_999, "run-4999")
    assert len(view.ancestors_of("run-4999")) == 4_999


def test_a_child_is_linked_to_the_call_that_started_it() -> None:
    """The parent's call with the declared id; none where it is not found or not declared."""
    script = Script().tell("p", "run.started").tell("p", "agent.tool_use", tool="Task", toolUseId="u")
    script.tell("c", "run.started", parentRunId="p", parentToolUseId="u")
    script.tell("d", "run.started", parentRunId="p", parentToolUseId="other").tell("e", "run.started", parentRunId="p")
    view = script.view()
    assert view.calling_call("c") == view.runs["p"].calls[0]
    assert view.calling_call("d") is None
    assert view.calling_call("e") is None
    assert view.calling_call("p") is None


def test_a_run_that_is_not_there_is_a_key_error() -> None:
    """Every question about one run says when the stream has no such run."""
    view = planted(r=None)
    for ask in (view.parent_of, view.children_of, view.ancestors_of, view.calling_call, view.totals_of):
        with pytest.raises(KeyError):
            ask("q")
    with pytest.raises(KeyError):
        list(view.walk("q"))
    with pytest.raises(KeyError):
        view.tree_totals_of("q")
