"""Costs and usage: the maximum within a session, the sum across, and nothing twice."""

import itertools
import math
from typing import Any

import pytest

from ethogram.stream import UsageTotal, total_of
from ethogram.stream.spending import sum_usage
from tests.unit.ethogram.stream.script import Script


def test_a_sessions_cost_is_its_highest() -> None:
    """`costUsd` is cumulative: three completions of one session cost what the highest says, not their sum."""
    script = Script().tell("r", "run.started").tell("r", "agent.started", sessionId="s")
    for cost in (1.0, 3, 2.5):
        script.tell("r", "agent.completed", costUsd=cost)
    view = script.view()
    assert view.totals.cost_usd == 3.0
    (session,) = view.runs["r"].sessions
    assert (session.session_id, session.start_count, session.completion_count) == ("s", 1, 3)


def test_sessions_add_up() -> None:
    """Sessions of one run, and of several runs, are summed."""
    script = Script().tell("r", "agent.completed", sessionId="s", costUsd=1.0)
    script.tell("r", "agent.completed", sessionId="t", costUsd=2.0).tell("q", "agent.completed", costUsd=4.0)
    view = script.view()
    assert (view.totals.cost_usd, view.totals.session_count, view.totals.run_count) == (7.0, 3, 2)
    assert view.totals_of("r").cost_usd == 3.0


def test_a_resumed_session_is_counted_once() -> None:
    """A run that resumes a session reports all that it had cost: the stream's total is the highest, not the sum."""
    script = Script()
    for run_id, cost in (("r", 1.0), ("q", 1.5)):
        script.tell(run_id, "run.started", harness="mine").tell(run_id, "agent.started", sessionId="s")
        script.tell(run_id, "agent.completed", costUsd=cost).tell(run_id, "run.finished", costUsd=cost)
    view = script.view()
    assert (view.totals.cost_usd, view.totals.session_count) == (1.5, 1)
    assert (view.totals_of("r").cost_usd, view.totals_of("q").cost_usd) == (1.0, 1.5)


def test_a_session_belongs_to_its_harness() -> None:
    """One session id in two harnesses is two sessions."""
    script = Script()
    for run_id, harness in (("r", "mine"), ("q", "theirs")):
        script.tell(run_id, "run.started", harness=harness)
        script.tell(run_id, "agent.completed", sessionId="1", costUsd=1.0)
    assert script.view().totals.cost_usd == 2.0


def test_a_run_whose_start_was_missed_joins_the_session_it_resumed() -> None:
    """Without a harness, a session is taken for the only one of its id; where there are two, for neither."""
    script = Script().tell("r", "run.started", harness="mine").tell("r", "agent.completed", sessionId="1", costUsd=1.0)
    script.tell("late", "agent.completed", at=5, sessionId="1", costUsd=3.0)
    assert script.view().totals.cost_usd == 3.0
    script.tell("q", "run.started", harness="theirs").tell("q", "agent.completed", sessionId="1", costUsd=7.0)
    assert script.view().totals.cost_usd == 11.0


def test_a_subagents_session_that_is_its_parents_is_counted_once() -> None:
    """Parent and child in one session cost what that session cost, in the child's tree and in the parent's."""
    script = Script().tell("p", "run.started", harness="mine").tell("p", "agent.started", sessionId="s")
    script.tell("c", "run.started", harness="mine", kind="subagent", parentRunId="p")
    script.tell("c", "agent.completed", sessionId="s", costUsd=0.5).tell("p", "agent.completed", costUsd=2.0)
    view = script.view()
    assert view.tree_totals_of("p").cost_usd == 2.0
    assert view.tree_totals_of("c").cost_usd == 0.5
    assert view.totals_of("p").run_count == 1
    assert view.tree_totals_of("p").run_count == 2


@pytest.mark.parametrize(
    ("completions", "finish_cost", "total"),
    [
        ([], 3.0, 3.0),
        ([{"costUsd": 3.0}], 3.0, 3.0),
        ([{"costUsd": 2.0}], 3.0, 3.0),
        ([{"costUsd": 3.0}], 2.0, 3.0),
        ([{}], 3.0, 3.0),
        ([{"sessionId": "s"}, {"sessionId": "t"}], 3.0, 3.0),
        ([{"sessionId": "s", "costUsd": 1.0}, {"sessionId": "t"}], 3.0, 1.0),
        ([{"sessionId": "s", "costUsd": 1.0}, {"sessionId": "t", "costUsd": 2.0}], 3.0, 3.0),
        ([{"sessionId": "s", "costUsd": 0}, {"sessionId": "t"}], 3.0, 0.0),
    ],
)
def test_the_cost_of_a_finish_is_not_added(completions: list[dict[str, Any]], finish_cost: float, total: float) -> None:
    """It is one more of an only session; of several it counts where none of them reported a cost."""
    script = Script().tell("r", "run.started")
    for completion in completions:
        script.tell("r", "agent.completed", **completion)
    assert script.tell("r", "run.finished", costUsd=finish_cost).view().totals.cost_usd == total


def test_the_cost_of_a_finish_goes_to_the_only_session() -> None:
    """So a session that two runs shared is still one, though only their finishes tell what it cost."""
    script = Script()
    for run_id, cost in (("r", 1.0), ("q", 1.5)):
        script.tell(run_id, "run.started").tell(run_id, "agent.started", sessionId="s")
        script.tell(run_id, "run.finished", costUsd=cost)
    assert script.view().totals.cost_usd == 1.5


def test_a_completion_without_an_id_is_of_the_session_that_started_last() -> None:
    """The session of the latest start; without any, or after a start without an id, the run's own."""
    script = Script().tell("r", "agent.started", sessionId="s").tell("r", "agent.started", sessionId="t", model="m")
    script.tell("r", "agent.completed", turns=2.0, costUsd=2.0).tell("r", "agent.completed", sessionId="s", costUsd=1.0)
    script.tell("r", "agent.started").tell("r", "agent.completed", costUsd=4.0, turns=9)
    found = {one.session_id: (one.cost_usd, one.turns, one.model) for one in script.view().runs["r"].sessions}
    assert found == {"s": (1.0, None, None), "t": (2.0, 2, "m"), None: (4.0, 9, None)}
    own = Script().tell("r", "agent.completed", costUsd=1.0).tell("q", "agent.completed", costUsd=1.0)
    assert own.view().totals.cost_usd == 2.0


def test_usage_of_completions_is_summed_and_the_finish_is_not_added() -> None:
    """Each completion has its own usage; a finish repeats them, so it counts only where they say nothing."""
    script = Script().tell("r", "agent.completed", usage={"inputTokens": 1, "outputTokens": 2.0})
    script.tell("r", "agent.completed", usage={"inputTokens": 10, "cacheReadTokens": 0})
    script.tell("r", "run.finished", usage={"inputTokens": 11, "outputTokens": 2})
    assert script.view().runs["r"].usage == (UsageTotal("tokens", 11, 2, 0),)
    alone = Script().tell("r", "agent.completed", usage={}).tell("r", "agent.completed", costUsd=1)
    alone.tell("r", "run.finished", usage={"inputTokens": 11})
    assert alone.view().totals.tokens == UsageTotal("tokens", 11)
    assert alone.view().totals.session_count == 1


def test_unlike_units_are_never_added() -> None:
    """An absent unit means tokens; every other is a total of its own."""
    script = Script().tell("r", "agent.completed", usage={"inputTokens": 1})
    script.tell("r", "agent.completed", usage={"inputTokens": 2, "unit": "tokens"})
    script.tell("q", "agent.completed", usage={"inputTokens": 4, "unit": "credits"})
    view = script.view()
    assert view.totals.usage == (UsageTotal("credits", 4), UsageTotal("tokens", 3))
    assert view.totals.tokens.input_tokens == 3
    assert view.totals_of("q").tokens == UsageTotal()
    with pytest.raises(ValueError, match="unit"):
        UsageTotal("credits", 4).plus(UsageTotal("tokens", 3))


def test_an_estimate_taints_what_it_counts_in() -> None:
    """An estimated cost or usage taints totals; one that counts for nothing does not."""
    script = Script().tell("r", "agent.completed", costUsd=1.0, estimated=True)
    script.tell("q", "agent.completed", costUsd=2.0, usage={"inputTokens": 1})
    script.tell("q", "run.finished", costUsd=1.5, usage={"inputTokens": 9}, estimated=True)
    view = script.view()
    assert view.totals.is_estimated
    assert view.totals_of("r").is_estimated
    assert not view.totals_of("q").is_estimated, "neither the lower cost nor the repeated usage counts"
    script.tell("s", "run.finished", usage={"inputTokens": 9}, estimated=True)
    assert script.view().totals_of("s").usage == (UsageTotal("tokens", 9, is_estimated=True),)
    assert script.view().totals_of("s").is_estimated
    tie = Script().tell("r", "agent.completed", costUsd=2.0).tell("r", "run.finished", costUsd=2.0, estimated=True)
    assert tie.view().totals.is_estimated, "of two equal costs nobody can say which was meant"


def test_sums_do_not_depend_on_the_order() -> None:
    """The sum is that of the exact values, rounded once; adding one by one depends on the order."""
    costs = [0.1, 1e15, 0.2, -1e15, 0.3, 1e-9]
    sums = set()
    for order in itertools.permutations(costs):
        script = Script()
        for index, cost in enumerate(order):
            script.tell(f"run-{index}", "agent.completed", costUsd=cost)
        sums.add(script.view().totals.cost_usd)
    assert sums == {math.fsum(costs)}
    assert len({sum(order) for order in itertools.permutations(costs)}) > 1, "these costs can tell the two apart"


def test_a_run_that_is_given_twice_counts_once() -> None:
    """Totals are of a set of runs."""
    view = Script().tell("r", "agent.completed", costUsd=1.0, usage={"inputTokens": 1}).view()
    run = view.runs["r"]
    assert total_of([run, run]) == view.totals
    assert sum_usage([]) == ()
