"""What one run has reached, and the transitions that a judged event makes.

    unknown --forwarded--> open --forwarded--> open --run.finished forwarded--> finished
                            |                                                      |
                            +--refused, and the source advances--> open            +--anything--> finished

Only a forwarded event opens or finishes a run; where a source says `after_refusal: advance`, a refused event that was
the expected one moves the cursor (and opens the run) but never finishes it. Nothing leaves `finished`.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

SEQ_FIRST = 1
"""Every run counts from here. Spec: The envelope."""

FINISHING_TYPE = "run.finished"
"""The one terminal event of a run. Spec: Run lifecycle."""


class RunState(NamedTuple):
    """The cursor of one run. A tuple, since one is made for every forwarded record."""

    next_seq: int
    """The `seq` that is expected next, 1-based."""
    finished: bool
    """Whether `run.finished` was forwarded."""
    source: str
    """The source topic that owns the run."""
    changed_ms: int = 0
    """The relay's clock at the commit that made this state, milliseconds since the epoch; 0 until then."""


_new_state: Final[Callable[[type[RunState], tuple[Any, ...]], RunState]] = tuple.__new__
"""The constructor without its arguments to sort out: half the time, once a record."""


class Runs(Protocol):
    """The run states of one partition number, as a judge may see them: by name, never changed."""

    def get(self, run_id: str, /) -> RunState | None:
        """The state of a run, or None for one that was never seen (or is forgotten)."""
        ...


def expected_seq(state: RunState | None) -> int:
    """The `seq` that a run takes next, 1 for one that is not known."""
    return SEQ_FIRST if state is None else state.next_seq


def forwarded(state: RunState | None, source: str, event_type: str) -> RunState:
    """The state after the expected event was forwarded.

    Args:
        state: The state before, None for a run's first event.
        source: The source topic it came from.
        event_type: The event's `type`; `run.finished` closes the run.

    Returns:
        The new state, its change time unset.
    """
    next_seq = SEQ_FIRST + 1 if state is None else state.next_seq + 1
    return _new_state(RunState, (next_seq, event_type == FINISHING_TYPE, source, 0))


def passed_over(state: RunState | None, source: str) -> RunState:
    """The state after the expected event was refused by a source that advances: the cursor moves, nothing closes."""
    return RunState(expected_seq(state) + 1, finished=False, source=source)
