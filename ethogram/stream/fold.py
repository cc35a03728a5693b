"""Folds a stream of interleaved runs, event by event.

It must never keep an event, and never raise for the order or the course of the runs.

Spec: Run lifecycle
"""

from collections.abc import Iterable

from ethogram.audit import SeenRefusal, name_source_run
from ethogram.envelope import Event
from ethogram.errors import FoldError
from ethogram.representable import find_payload_fault, is_plainly_representable
from ethogram.stream.decisions import AnswersIndex, DecisionAnswer
from ethogram.stream.run_fold import RunFold
from ethogram.stream.view import StreamView
from ethogram.vocabulary.capture import CAPTURE_REFUSED
from ethogram.vocabulary.decision import DECISION_ANSWERED, DECISION_REQUESTED


class StreamFold:
    """Folds a stream while it is read.

    Each event takes constant time on average. What is held grows with the runs and with what is listed of them (calls,
    decisions, controls, refusals, oddities), never with narration.

    Spec: Run lifecycle
    """

    def __init__(self) -> None:
        """See no event yet."""
        self._folds: dict[str, RunFold] = {}
        self._answers = AnswersIndex()
        self._refusals: dict[str, list[SeenRefusal]] = {}

    def add(self, event: Event) -> None:
        """Fold the next event of the stream.

        Args:
            event: an event of any run; it is not kept.

        Raises:
            FoldError: it was made by hand and its payload is not representable; nothing changes.

        Spec: Run lifecycle
        """
        if not is_plainly_representable(event.type, event.payload):
            fault = find_payload_fault(event.type, event.payload)
            if fault is not None:
                raise FoldError(f"{fault.path}: {fault.fault} (fold)")
        fold = self._folds.get(event.run_id)
        if fold is None:
            fold = self._folds[event.run_id] = RunFold(event)
        if fold.add(event):
            self._index(event)

    def _index(self, event: Event) -> None:
        """Note what one run says of another."""
        if event.type == CAPTURE_REFUSED.name:
            refusal = SeenRefusal.read(event.run_id, event.seq, event.payload)
            self._refusals.setdefault(refusal.source_run_id, []).append(refusal)
        elif event.type == DECISION_REQUESTED.name:
            self._answers.ask(event.payload["decisionId"], event.run_id)
        elif event.type == DECISION_ANSWERED.name:
            self._answers.answer(DecisionAnswer.read(event.run_id, event.seq, event.payload))

    def view(self) -> StreamView:
        """Show what was folded so far; more may be added afterwards.

        Returns:
            A view that later events do not change. Runs to which nothing came since the last view are taken from it, so
            a view takes time by the number of runs and by what is new.

        Spec: Run lifecycle
        """
        answers = self._answers.by_run()
        refusals = {
            run_id: tuple(sorted(found, key=lambda refusal: refusal.order)) for run_id, found in self._refusals.items()
        }
        runs = {
            run_id: fold.view(answers.get(run_id, {}), refusals.get(name_source_run(run_id), ()))
            for run_id, fold in self._folds.items()
        }
        return StreamView(runs, self._answers.unmatched())


def fold_stream(events: Iterable[Event]) -> StreamView:
    """Fold a stream of interleaved runs, open and finished ones.

    Args:
        events: events of any number of runs. Any interleaving that keeps the order within each run gives the same view.

    Returns:
        The view of all of them.

    Raises:
        FoldError: an event was made by hand and its payload is not representable.

    Spec: Run lifecycle
    """
    fold = StreamFold()
    for event in events:
        fold.add(event)
    return fold.view()
