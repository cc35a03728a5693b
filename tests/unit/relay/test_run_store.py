"""The run states of one partition number."""

import pytest

from relay import run_store
from relay.judge.run_state import RunState
from relay.run_store import PartitionRuns

OPEN = RunState(2, finished=False, source="a", changed_ms=10)
FINISHED = RunState(3, finished=True, source="b", changed_ms=20)


def store_of(**states: RunState) -> PartitionRuns:
    """A store with committed states."""
    runs = PartitionRuns()
    for run_id, state in states.items():
        runs.load(run_id, state)
    return runs


def test_staged_states_are_seen_first() -> None:
    """A judge sees what earlier records of the batch made of a run, before what is committed."""
    runs = store_of(r=OPEN)
    assert runs.get("r") == OPEN
    runs.staged["r"] = FINISHED
    assert runs.get("r") == FINISHED
    assert runs.get("q") is None


def test_open_runs_are_counted() -> None:
    """The count of open runs follows loads, changes to finished, repeats, and forgetting."""
    runs = store_of(r=OPEN, q=OPEN)
    assert (len(runs), runs.open_count) == (2, 2)
    runs.load("r", FINISHED)
    runs.load("r", FINISHED)
    assert (len(runs), runs.open_count) == (2, 1)
    runs.forget(["r", "unknown"])
    assert (len(runs), runs.open_count) == (1, 1)
    runs.forget(["q"])
    assert (len(runs), runs.open_count) == (0, 0)


def test_a_seal_sets_the_change_time() -> None:
    """Every staged state gets the time of its transaction; committed ones keep theirs."""
    runs = store_of(r=OPEN)
    runs.staged["q"] = RunState(2, finished=False, source="a")
    assert runs.seal(99) == {"q": RunState(2, finished=False, source="a", changed_ms=99)}
    assert runs.get("r") == OPEN


def test_commit_and_drop_settle_all_together() -> None:
    """A commit makes staged states and waits true; a drop leaves what was committed."""
    runs = store_of(r=OPEN)
    runs.staged["r"] = FINISHED
    runs.stage_held("q")
    runs.drop()
    assert (runs.get("r"), runs.held, runs.open_count) == (OPEN, set(), 1)
    runs.staged["r"] = FINISHED
    runs.stage_held("q")
    runs.commit()
    assert (runs.get("r"), runs.held, runs.open_count) == (FINISHED, {"q"}, 0)
    assert runs.staged == {}


def test_a_run_that_moved_waits_no_more() -> None:
    """A staged move ends a run's waiting with the commit, and not with a drop; it may begin to wait anew."""
    runs = store_of()
    runs.stage_held("r")
    runs.commit()
    runs.stage_moved("r")
    runs.drop()
    assert runs.held == {"r"}
    assert runs.waiting
    runs.stage_moved("r")
    runs.stage_held("r")
    runs.commit()
    assert runs.held == {"r"}
    runs.stage_moved("r")
    runs.commit()
    assert runs.held == set()
    assert not runs.waiting


def test_forgotten_runs_wait_no_more() -> None:
    """Forgetting a run forgets that it waited."""
    runs = store_of(r=OPEN)
    runs.stage_held("r")
    runs.commit()
    runs.forget(["r"])
    assert runs.held == set()


def test_waiting_runs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a bound of waiting runs is remembered: a run that never began has no other."""
    monkeypatch.setattr(run_store, "HELD_RUNS_MAX", 2)
    runs = store_of()
    for run_id in "abc":
        runs.stage_held(run_id)
    runs.commit()
    assert runs.held == {"a", "b"}


def test_expired_runs_are_listed_by_their_horizon() -> None:
    """Finished and open runs have horizons of their own, and a limit; touched runs are not listed."""
    runs = store_of(open=OPEN, finished=FINISHED, old=RunState(9, finished=True, source="a", changed_ms=1))
    assert runs.expired(20, None, 10) == ["old"]
    assert runs.expired(21, None, 10) == ["finished", "old"]
    assert runs.expired(None, 10, 10) == []
    assert runs.expired(None, 11, 10) == ["open"]
    assert runs.expired(21, 11, 2) == ["open", "finished"]
    runs.staged["finished"] = FINISHED
    assert runs.expired(21, None, 10) == ["old"]


def test_owners_are_listed() -> None:
    """The source topics that own a run here."""
    assert store_of(r=OPEN, q=FINISHED, s=OPEN).sources() == {"a", "b"}
