"""The tree of parents: which run started which. It is a forest whatever the runs declare.

It must never loop: a run that declares itself, or a ring of runs, is cut where the rules below say.

Spec: Run lifecycle
"""

from collections.abc import Iterator, Mapping
from enum import Enum


class RootReason(Enum):
    """Why a run has no parent in the tree."""

    NO_PARENT = "its start declares none"
    START_UNSEEN = "its start was not seen, so its parent is not known"
    ABSENT_PARENT = "the declared parent is not in the stream"
    OWN_PARENT = "it declares itself"
    CYCLE = "it is the ring's run with the lowest id, where the ring of parents is cut"


class RunTree:
    """Parents and children among the runs of a stream.

    Attributes:
        roots: why each root is one, by run id, in the order of first sight.
    """

    def __init__(self, declared: Mapping[str, str | None], unseen_starts: frozenset[str]) -> None:
        """Plant the tree, in time by the runs.

        Args:
            declared: the declared parent of every run of the stream, in the order of first sight.
            unseen_starts: the runs whose start was not seen.
        """
        self._parents: dict[str, str] = {}
        reasons: dict[str, RootReason] = {}
        for run_id, parent_id in declared.items():
            if run_id in unseen_starts:
                reasons[run_id] = RootReason.START_UNSEEN
            elif parent_id is None:
                reasons[run_id] = RootReason.NO_PARENT
            elif parent_id == run_id:
                reasons[run_id] = RootReason.OWN_PARENT
            elif parent_id not in declared:
                reasons[run_id] = RootReason.ABSENT_PARENT
            else:
                self._parents[run_id] = parent_id
        for run_id in _ring_cuts(self._parents):
            del self._parents[run_id]
            reasons[run_id] = RootReason.CYCLE
        self.roots: Mapping[str, RootReason] = {run_id: reasons[run_id] for run_id in declared if run_id in reasons}
        self._children: dict[str, list[str]] = {run_id: [] for run_id in declared}
        for run_id in declared:
            if run_id in self._parents:
                self._children[self._parents[run_id]].append(run_id)

    def parent_of(self, run_id: str) -> str | None:
        """A run's parent in the tree; None for a root.

        Spec: Run lifecycle
        """
        return self._parents.get(run_id)

    def children_of(self, run_id: str) -> tuple[str, ...]:
        """A run's children in the order of first sight.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        return tuple(self._children[run_id])

    def walk(self, run_id: str) -> Iterator[tuple[int, str]]:
        """Go through a run and all below it, each parent right before its children.

        Yields:
            (depth, run id); the run itself has depth 0.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        waiting = [(0, run_id)]
        while waiting:
            depth, current = waiting.pop()
            yield depth, current
            waiting.extend((depth + 1, child) for child in reversed(self._children[current]))


def _ring_cuts(parents: Mapping[str, str]) -> list[str]:
    """The run with the lowest id of every ring of parents, found in one pass over all of them."""
    cuts: list[str] = []
    trail_of: dict[str, str] = {}
    for start in parents:
        trail: list[str] = []
        current: str | None = start
        while current is not None and current not in trail_of:
            trail_of[current] = start
            trail.append(current)
            current = parents.get(current)
        if current is not None and trail_of[current] == start and trail:
            cuts.append(min(trail[trail.index(current) :]))
    return cuts
