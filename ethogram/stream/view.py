"""A stream of interleaved runs at one moment: its runs, their tree and their totals.

It must never change after it was made, and never judge a run.

Spec: Run lifecycle
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from ethogram.stream.calls import ToolCall
from ethogram.stream.decisions import DecisionAnswer
from ethogram.stream.run import StreamRun
from ethogram.stream.spending import Totals, total_of
from ethogram.stream.tree import RootReason, RunTree


@dataclass(frozen=True, slots=True)
class TreeStep:
    """A run on a walk through the tree.

    Attributes:
        depth: 0 for a run that the walk begins with, one more for each level below.
        run: the run.
    """

    depth: int
    run: StreamRun


@dataclass(frozen=True, slots=True)
class TreeRoot:
    """A run without a parent in the tree.

    Attributes:
        run: the run.
        reason: why it is a root.
    """

    run: StreamRun
    reason: RootReason


class StreamView:
    """What a stream has said so far. Two views are equal if their runs are, whatever order these came in.

    Attributes:
        runs: every run by its id, in the order of first sight.
        unmatched_answers: answers to decisions that no run of the stream asked for.
    """

    __slots__ = ("_tree", "runs", "unmatched_answers")

    runs: Mapping[str, StreamRun]
    unmatched_answers: tuple[DecisionAnswer, ...]

    def __init__(self, runs: Mapping[str, StreamRun], unmatched_answers: tuple[DecisionAnswer, ...] = ()) -> None:
        """Make a view; `fold_stream` and `StreamFold.view` do so.

        Args:
            runs: the runs by their ids, in the order of first sight; copied.
            unmatched_answers: answers to decisions that none of them asked for.
        """
        self.runs = MappingProxyType(dict(runs))
        self.unmatched_answers = unmatched_answers
        self._tree = RunTree(
            {run_id: run.parent_run_id for run_id, run in self.runs.items()},
            frozenset(run_id for run_id, run in self.runs.items() if not run.start_seen),
        )

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of the same runs."""
        if not isinstance(other, StreamView):
            return NotImplemented
        return self.runs == other.runs and self.unmatched_answers == other.unmatched_answers

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # a mapping of runs is compared by value and has no hash

    def __repr__(self) -> str:
        """Count the runs, and show nothing of them."""
        return f"<StreamView of {len(self.runs)} runs, {len(self.open_runs)} open>"

    @property
    def open_runs(self) -> tuple[StreamRun, ...]:
        """The runs whose finish was not seen, in the order of first sight."""
        return tuple(run for run in self.runs.values() if run.is_open)

    @property
    def finished_runs(self) -> tuple[StreamRun, ...]:
        """The runs whose finish was seen, in the order of first sight."""
        return tuple(run for run in self.runs.values() if not run.is_open)

    @property
    def roots(self) -> tuple[TreeRoot, ...]:
        """The runs without a parent in the tree, and why, in the order of first sight."""
        return tuple(TreeRoot(self.runs[run_id], reason) for run_id, reason in self._tree.roots.items())

    @property
    def totals(self) -> Totals:
        """What the whole stream cost and used."""
        return total_of(self.runs.values())

    def parent_of(self, run_id: str) -> StreamRun | None:
        """A run's parent in the tree; None for a root.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        parent_id = self._tree.parent_of(self.runs[run_id].run_id)
        return None if parent_id is None else self.runs[parent_id]

    def children_of(self, run_id: str) -> tuple[StreamRun, ...]:
        """A run's children in the order of first sight.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        return tuple(self.runs[child] for child in self._tree.children_of(run_id))

    def ancestors_of(self, run_id: str) -> tuple[StreamRun, ...]:
        """A run's parent, that one's parent, and so on up to a root.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        found: list[StreamRun] = []
        parent = self.parent_of(run_id)
        while parent is not None:
            found.append(parent)
            parent = self.parent_of(parent.run_id)
        return tuple(found)

    def walk(self, run_id: str | None = None) -> Iterator[TreeStep]:
        """Go through the tree, each parent right before its children.

        Args:
            run_id: where to begin; by default at every root, which goes through every run once.

        Yields:
            The runs with their depth.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        for start in self._tree.roots if run_id is None else (run_id,):
            for depth, found in self._tree.walk(start):
                yield TreeStep(depth, self.runs[found])

    def calling_call(self, run_id: str) -> ToolCall | None:
        """The tool call of its parent that started a run.

        Returns:
            The parent's first call with the declared id; None where none is declared, or it is not found.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        parent, call_id = self.parent_of(run_id), self.runs[run_id].parent_tool_use_id
        return None if parent is None or call_id is None else parent.call(call_id)

    def totals_of(self, run_id: str) -> Totals:
        """What one run cost and used: of a session that it resumed, all that the session had cost by then.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        return total_of([self.runs[run_id]])

    def tree_totals_of(self, run_id: str) -> Totals:
        """What a run and all below it cost and used together.

        Raises:
            KeyError: the run is not in the stream.

        Spec: Run lifecycle
        """
        return total_of(step.run for step in self.walk(run_id))
