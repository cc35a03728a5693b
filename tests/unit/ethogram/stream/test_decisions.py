"""Decisions and their answers, which usually stand on another run."""

from ethogram.stream import DecisionAnswer
from tests.unit.ethogram.stream.script import Script


def test_an_answer_on_a_later_run_answers_the_decision() -> None:
    """The run that asked shows who answered where; the run that applied the answer shows it as its own."""
    script = Script().tell("r", "decision.requested", subject="a tool", expiresAt="t", onTimeout="deny")
    script.tell("a", "decision.answered", byTimeout=True, optionId="deny", reversal="undo:it", requestedRunId="r")
    view = script.view()
    (decision,) = view.runs["r"].decisions
    answer = DecisionAnswer("d", "a", 1, "deny", "u", by_timeout=True, reversal="undo:it", requested_run_id="r")
    assert (decision.decision_id, decision.kind, decision.requested_seqs) == ("d", "permission", (1,))
    assert (decision.subject, decision.expires_at, decision.on_timeout) == ("a tool", "t", "deny")
    assert decision.answers == (answer,)
    assert not decision.is_open
    assert view.runs["a"].answers == (answer,)
    assert view.runs["r"].answers == ()
    assert view.unmatched_answers == ()


def test_an_answer_may_come_before_its_request_in_the_stream() -> None:
    """Runs interleave in any way, so order across runs says nothing."""
    script = Script().tell("a", "decision.answered").tell("r", "decision.requested")
    assert not script.view().runs["r"].decisions[0].is_open


def test_repeats_are_tolerated() -> None:
    """A request told twice is one decision, its first kind stands, and every answer is listed in a fixed order."""
    script = Script().tell("r", "decision.requested", kind="odd").tell("r", "decision.requested", kind="budget")
    script.tell("z", "decision.answered").tell("b", "decision.answered").tell("b", "decision.answered", optionId="x")
    (decision,) = script.view().runs["r"].decisions
    assert (decision.kind, decision.requested_seqs) == ("odd", (1, 2))
    assert [(one.run_id, one.seq, one.option_id) for one in decision.answers] == [
        ("b", 1, "allow"),
        ("b", 2, "x"),
        ("z", 1, "allow"),
    ]


def test_an_answer_goes_to_the_run_it_names() -> None:
    """Where two runs asked under one id; an answer that names neither of them is both's."""
    script = Script().tell("r", "decision.requested").tell("q", "decision.requested")
    script.tell("a", "decision.answered", requestedRunId="q").tell("b", "decision.answered", requestedRunId="unknown")
    script.tell("c", "decision.answered")
    view = script.view()
    assert [one.run_id for one in view.runs["r"].decisions[0].answers] == ["b", "c"]
    assert [one.run_id for one in view.runs["q"].decisions[0].answers] == ["a", "b", "c"]


def test_answers_that_nobody_asked_for_are_listed() -> None:
    """They are the stream's, for no run shows them as a decision of its own."""
    script = Script().tell("r", "decision.requested").tell("a", "decision.answered", decisionId="other")
    view = script.view()
    assert [(one.decision_id, one.run_id) for one in view.unmatched_answers] == [("other", "a")]
    assert view.runs["r"].decisions[0].is_open
