"""What one run has reached, and its transitions."""

from relay.judge.run_state import RunState, expected_seq, forwarded, passed_over


def test_runs_count_from_one() -> None:
    """A run that is not known expects 1; a known one what its state says."""
    assert expected_seq(None) == 1
    assert expected_seq(RunState(5, finished=False, source="a")) == 5


def test_forwarding_moves_the_cursor() -> None:
    """A forwarded event moves the cursor by one, from nothing to 2; `run.finished` alone closes."""
    assert forwarded(None, "a", "x") == RunState(2, finished=False, source="a", changed_ms=0)
    assert forwarded(RunState(5, finished=False, source="a", changed_ms=9), "a", "x") == RunState(6, False, "a", 0)  # noqa: FBT003 - a named tuple
    assert forwarded(None, "a", "run.finished") == RunState(2, finished=True, source="a")


def test_passing_over_closes_nothing() -> None:
    """A refused event of an advancing source moves the cursor and leaves the run open."""
    assert passed_over(None, "a") == RunState(2, finished=False, source="a")
    assert passed_over(RunState(5, finished=False, source="a"), "a") == RunState(6, finished=False, source="a")
