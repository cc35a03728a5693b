"""Folding events."""

import pytest

import ethogram
from ethogram import Event, FoldError
from tests.unit.ethogram.samples import MINIMAL

START = Event("run.started", "r", 1, "t", MINIMAL["run.started"])
TEXT = Event("agent.text", "r", 2, "t", {"text": "t"})
FINISH = Event("run.finished", "r", 3, "t", {"outcome": "odd", "durationMs": 5.0})


def test_a_run_folds() -> None:
    """Start and finish make the view; other events, other runs' and their order do not matter."""
    view = ethogram.fold_run([TEXT, START, TEXT._replace(run_id="q"), FINISH])
    assert view is not None
    assert view.to_dict() == {
        "runId": "r",
        "kind": "loop",
        "actor": "a",
        "harness": "h",
        "open": False,
        "outcome": "odd",
        "durationMs": 5,
    }


def test_an_open_run_has_no_outcome() -> None:
    """A run without a finish is open; no start at all is no run."""
    view = ethogram.fold_run([START])
    assert view is not None
    assert view.to_dict() == {"runId": "r", "kind": "loop", "actor": "a", "harness": "h", "open": True}
    assert ethogram.fold_run([TEXT]) is None
    assert ethogram.fold_run([]) is None


def test_the_last_finish_counts() -> None:
    """Of two finishes the later one wins."""
    later = FINISH._replace(payload={"outcome": "failed", "durationMs": 6})
    view = ethogram.fold_run([START, FINISH, later])
    assert view is not None
    assert view.outcome == "failed"


@pytest.mark.parametrize(
    "events",
    [
        [START, START],
        [START, START._replace(run_id="q")],
        [FINISH],
        [FINISH, START],
        [START, FINISH._replace(run_id="q")],
        [START._replace(payload={"kind": "loop"})],
        [START, FINISH._replace(payload={"outcome": "failed"})],
    ],
)
def test_what_is_not_one_run_is_an_error(events: list[Event]) -> None:
    """A second start, a finish without its start, or an unreadable lifecycle payload does not fold."""
    with pytest.raises(FoldError):
        ethogram.fold_run(events)
