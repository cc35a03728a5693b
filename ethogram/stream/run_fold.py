"""Folds the events of one run, one by one, into what a stream shows of it.

It must never keep an event or its payload, only what is counted, named and timed.

Spec: Run lifecycle
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, TypeAlias

from ethogram.audit import SeenRefusal
from ethogram.envelope import Event, JsonValue
from ethogram.payloads import Ceilings
from ethogram.seqs import SeqCursor, SeqPlace
from ethogram.stream.calls import CallPairing
from ethogram.stream.controls import ControlsFold
from ethogram.stream.decisions import DecisionAnswer, DecisionsFold
from ethogram.stream.run import Oddity, OddityKind, StreamRun
from ethogram.stream.spending import SpendingFold
from ethogram.vocabulary import VOCABULARY
from ethogram.vocabulary.agent import AGENT_COMPLETED, AGENT_STARTED, AGENT_TOOL_RESULT, AGENT_TOOL_USE
from ethogram.vocabulary.capture import CAPTURE_REFUSED
from ethogram.vocabulary.control import CONTROL_APPLIED, CONTROL_REQUESTED
from ethogram.vocabulary.decision import DECISION_ANSWERED, DECISION_REQUESTED
from ethogram.vocabulary.run import RUN_FINISHED, RUN_STARTED

_Payload: TypeAlias = Mapping[str, JsonValue]
_Fold: TypeAlias = "Callable[[RunFold, Event, _Payload], None]"


class RunFold:
    """What the events of one run have said so far. The events must be representable.

    Attributes:
        run_id: the run.
    """

    def __init__(self, event: Event) -> None:
        """Begin before a run's first event.

        Args:
            event: the first event seen of the run; it is still to be added.
        """
        self.run_id: str = event.run_id
        self._cursor = SeqCursor()
        self._start: _Start | None = None
        self._finish_seq = 0
        self._outcome: str | None = None
        self._duration_ms: int | None = None
        self._first = self._last = (event.seq, event.ts)
        self._event_counts: dict[str, int] = {}
        self._truncated_count = 0
        self._spending = SpendingFold()
        self._pairing = CallPairing()
        self._controls = ControlsFold()
        self._decisions = DecisionsFold()
        self._answers: list[DecisionAnswer] = []
        self._refusal_counts: dict[str, int] = {}
        self._oddities: list[Oddity] = []
        self._frozen: StreamRun | None = None

    def add(self, event: Event) -> bool:
        """Fold the next event.

        Args:
            event: an event of this run whose payload is representable; not kept.

        Returns:
            Whether it counts; a `seq` that had come before does not.

        Spec: Run lifecycle
        """
        self._frozen = None
        seq = event.seq
        place = self._cursor.take(seq)
        if place is SeqPlace.REPEAT:
            self._note(OddityKind.REPEATED, seq)
            return False
        if place is SeqPlace.LATE:
            self._note(OddityKind.OUT_OF_ORDER, seq)
        elif seq > self._last[0]:
            self._last = (seq, event.ts)
        if seq < self._first[0]:
            self._first = (seq, event.ts)
        if self._finish_seq and seq > self._finish_seq and event.type != RUN_FINISHED.name:
            self._note(OddityKind.AFTER_FINISH, seq)
        fold = self._FOLDS.get(event.type)
        if fold is not None:
            fold(self, event, event.payload)
        if event.type in VOCABULARY and _is_truncated(event.payload):
            self._truncated_count += 1
        self._event_counts[event.type] = self._event_counts.get(event.type, 0) + 1
        return True

    def _note(self, kind: OddityKind, seq: int) -> None:
        last = self._oddities[-1] if self._oddities else None
        if last is not None and last.kind is kind and last.last_seq + 1 == seq:
            self._oddities[-1] = Oddity(kind, last.first_seq, seq)
        else:
            self._oddities.append(Oddity(kind, seq, seq))

    def _on_start(self, event: Event, payload: _Payload) -> None:
        if self._start is not None:
            self._note(OddityKind.SECOND_START, event.seq)
            return
        if self._event_counts:
            self._note(OddityKind.START_NOT_FIRST, event.seq)
        self._start = _Start(payload)

    def _on_finish(self, event: Event, payload: _Payload) -> None:
        if self._start is None:
            self._note(OddityKind.FINISH_WITHOUT_START, event.seq)
        if self._finish_seq:
            self._note(OddityKind.SECOND_FINISH, event.seq)
        self._finish_seq = self._finish_seq or event.seq
        self._outcome = payload["outcome"]
        self._duration_ms = int(payload["durationMs"])
        self._spending.finish(payload)

    def _on_agent_start(self, _event: Event, payload: _Payload) -> None:
        self._spending.start(payload)

    def _on_agent_completion(self, _event: Event, payload: _Payload) -> None:
        self._spending.complete(payload)

    def _on_tool_use(self, event: Event, payload: _Payload) -> None:
        self._pairing.use(event, payload)

    def _on_tool_result(self, event: Event, payload: _Payload) -> None:
        self._pairing.answer(event, payload)

    def _on_control_request(self, event: Event, payload: _Payload) -> None:
        self._controls.request(event.seq, payload)

    def _on_control_application(self, event: Event, payload: _Payload) -> None:
        self._controls.apply(event.seq, payload)

    def _on_decision_request(self, event: Event, payload: _Payload) -> None:
        self._decisions.request(event.seq, payload)

    def _on_decision_answer(self, event: Event, payload: _Payload) -> None:
        self._answers.append(DecisionAnswer.read(self.run_id, event.seq, payload))

    def _on_refusal(self, _event: Event, payload: _Payload) -> None:
        cause = payload["cause"]
        self._refusal_counts[cause] = self._refusal_counts.get(cause, 0) + 1

    _FOLDS: ClassVar[Mapping[str, "_Fold"]] = {
        RUN_STARTED.name: _on_start,
        RUN_FINISHED.name: _on_finish,
        AGENT_STARTED.name: _on_agent_start,
        AGENT_COMPLETED.name: _on_agent_completion,
        AGENT_TOOL_USE.name: _on_tool_use,
        AGENT_TOOL_RESULT.name: _on_tool_result,
        CONTROL_REQUESTED.name: _on_control_request,
        CONTROL_APPLIED.name: _on_control_application,
        DECISION_REQUESTED.name: _on_decision_request,
        DECISION_ANSWERED.name: _on_decision_answer,
        CAPTURE_REFUSED.name: _on_refusal,
    }

    def view(
        self,
        answers: Mapping[str, tuple[DecisionAnswer, ...]],
        refusals: tuple[SeenRefusal, ...],
    ) -> StreamRun:
        """Freeze what was folded so far.

        Args:
            answers: the answers that are this run's, by decision.
            refusals: the refusals that name it, sorted.

        Returns:
            The run; the very same value again where neither its events nor these two gave anything new.

        Spec: Run lifecycle
        """
        decisions = self._decisions.decisions(answers)
        held = self._frozen
        if held is not None and held.decisions == decisions and held.refusals == refusals:
            return held
        start = self._start or _NO_START
        self._frozen = StreamRun(
            run_id=self.run_id,
            start_seen=self._start is not None,
            kind=start.kind,
            actor=start.actor,
            harness=start.harness,
            model=start.model,
            parent_run_id=start.parent_run_id,
            parent_tool_use_id=start.parent_tool_use_id,
            schedule=start.schedule,
            repository=start.repository,
            work_order=start.work_order,
            ceilings=start.ceilings,
            outcome=self._outcome,
            duration_ms=self._duration_ms,
            first_seq=self._first[0],
            first_ts=self._first[1],
            last_seq=self._last[0],
            last_ts=self._last[1],
            event_counts=tuple(self._event_counts.items()),
            truncated_count=self._truncated_count,
            sessions=self._spending.sessions(),
            usage=self._spending.usage(),
            calls=self._pairing.calls(),
            unpaired_results=self._pairing.unpaired_results(),
            controls=self._controls.controls(),
            decisions=decisions,
            answers=tuple(self._answers),
            refusal_counts=tuple(self._refusal_counts.items()),
            refusals=refusals,
            oddities=tuple(self._oddities),
        )
        return self._frozen


class _Start:
    """What a `run.started` declares, its unknown fields left out."""

    __slots__ = (
        "actor",
        "ceilings",
        "harness",
        "kind",
        "model",
        "parent_run_id",
        "parent_tool_use_id",
        "repository",
        "schedule",
        "work_order",
    )

    def __init__(self, payload: _Payload) -> None:
        self.kind: str | None = payload.get("kind")
        self.actor: str | None = payload.get("actor")
        self.harness: str | None = payload.get("harness")
        self.model: str | None = payload.get("model")
        self.parent_run_id: str | None = payload.get("parentRunId")
        self.parent_tool_use_id: str | None = payload.get("parentToolUseId")
        self.schedule: str | None = payload.get("schedule")
        self.repository: str | None = payload.get("repository")
        self.work_order: str | None = payload.get("workOrder")
        ceilings = payload.get("ceilings")
        known = {one.name for one in Ceilings.ATTRIBUTES.values()}
        self.ceilings = (
            None
            if ceilings is None
            else Ceilings.from_json({name: value for name, value in ceilings.items() if name in known})
        )


_NO_START: Final = _Start({})


def _is_truncated(payload: _Payload) -> bool:
    """Whether an event's narration was cut: the flag of the payload, or that of a decision's dossier."""
    return payload.get("truncated") is True or payload.get("dossier", {}).get("truncated") is True
