"""One run as a stream shows it: frozen, and without a word of narration.

It must never judge: unfamiliar kinds, outcomes and types are carried as they came, and what is odd is noted.

Spec: Run lifecycle
"""

from dataclasses import dataclass
from enum import Enum

from ethogram.audit import SeenRefusal
from ethogram.payloads import Ceilings
from ethogram.stream.calls import ToolCall, ToolResult
from ethogram.stream.controls import Control
from ethogram.stream.decisions import Decision, DecisionAnswer
from ethogram.stream.spending import AgentSession, UsageTotal


class OddityKind(Enum):
    """What can be odd about the course of a run."""

    SECOND_START = "a run.started after another; the first one counts"
    START_NOT_FIRST = "a run.started after other events of the run"
    FINISH_WITHOUT_START = "a run.finished before any run.started"
    SECOND_FINISH = "a run.finished after another; the last one counts"
    AFTER_FINISH = "an event beyond the run.finished; it counts"
    OUT_OF_ORDER = "an event that came after one with a higher seq; it counts"
    REPEATED = "an event whose seq had come before; it counts for nothing"


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd about the course of a run; the same about neighbouring events is one.

    Attributes:
        kind: what it is.
        first_seq: the `seq` of the first event concerned.
        last_seq: the `seq` of the last one.
    """

    kind: OddityKind
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRun:
    """All that a stream has said of one run so far, narration left out.

    What the start declares is None where the start was not seen or does not say. Narration (texts, excerpts, reasons,
    warnings, dossiers, labels) is left out on purpose: read the events for it.

    Attributes:
        run_id: the run.
        start_seen: whether its `run.started` was seen.
        kind: what kind of run it is, familiar or not.
        actor: who or what it runs for.
        harness: what it runs in.
        model: the model it was given.
        parent_run_id: the run that started it, as declared; whether that run is in the stream, `StreamView` knows.
        parent_tool_use_id: the tool call of that run that started it.
        schedule: the schedule that fired it.
        repository: what it works on.
        work_order: what it was asked for, by reference.
        ceilings: the bounds it is held to; its `extra` is left out.
        outcome: how it ended, familiar or not; None while it is open.
        duration_ms: milliseconds, as its finish has them; None while it is open.
        first_seq: the lowest `seq` seen.
        first_ts: the time stamp of that event.
        last_seq: the highest `seq` seen.
        last_ts: the time stamp of that event.
        event_counts: (type, events) of each type seen, unknown ones too, in the order of first sight.
        truncated_count: events of known types that say that something was cut.
        sessions: the sessions of its agents.
        usage: what it used, by unit.
        calls: its tool calls with their results, in order.
        unpaired_results: results that found no open call of their id.
        controls: what was asked of it, and what became of that.
        decisions: what it asked, with answers from the whole stream.
        answers: the answers that it applied, to its own decisions or another run's.
        refusal_counts: (cause, refusals) that it emitted, in the order of first sight.
        refusals: refusals, anywhere in the stream, that name it as their source; sorted by the `seq` they name.
        oddities: what was odd about its course, in the order it was seen.
    """

    run_id: str
    start_seen: bool
    kind: str | None
    actor: str | None
    harness: str | None
    model: str | None
    parent_run_id: str | None
    parent_tool_use_id: str | None
    schedule: str | None
    repository: str | None
    work_order: str | None
    ceilings: Ceilings | None
    outcome: str | None
    duration_ms: int | None
    first_seq: int
    first_ts: str
    last_seq: int
    last_ts: str
    event_counts: tuple[tuple[str, int], ...]
    truncated_count: int
    sessions: tuple[AgentSession, ...]
    usage: tuple[UsageTotal, ...]
    calls: tuple[ToolCall, ...]
    unpaired_results: tuple[ToolResult, ...]
    controls: tuple[Control, ...]
    decisions: tuple[Decision, ...]
    answers: tuple[DecisionAnswer, ...]
    refusal_counts: tuple[tuple[str, int], ...]
    refusals: tuple[SeenRefusal, ...]
    oddities: tuple[Oddity, ...]

    @property
    def is_open(self) -> bool:
        """Whether no finish was seen."""
        return self.outcome is None

    @property
    def event_count(self) -> int:
        """How many events were seen, repeats left out."""
        return sum(count for _type, count in self.event_counts)

    @property
    def warning_count(self) -> int:
        """How many warnings of the harness were seen."""
        return self.count_of("agent.warning")

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that no result answers: still running, broken off, or without an id to be answered by."""
        return tuple(call for call in self.calls if call.result is None)

    def count_of(self, event_type: str) -> int:
        """How many events of a type were seen.

        Spec: The envelope
        """
        return dict(self.event_counts).get(event_type, 0)

    def call(self, tool_use_id: str) -> ToolCall | None:
        """The first call with an id; None where there is none.

        Spec: Agent observation
        """
        return next((call for call in self.calls if call.tool_use_id == tool_use_id), None)
