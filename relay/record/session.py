"""One command as one run: which events it is told by, in which order, and what they hold.

    run.started, agent.started, agent.tool_use, agent.text, agent.tool_result, agent.completed, run.finished

The command is one call of the tool `command`; what it printed is narration beneath that call. A command that printed
nothing has no `agent.text`, and one that could not be started has `run.started` and `run.finished` alone.

Spec: Run lifecycle; Agent observation; On narration
"""

import getpass
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Protocol

from ethogram import (
    AgentCompleted,
    AgentStarted,
    AgentText,
    AgentToolResult,
    AgentToolUse,
    Ceilings,
    InMemorySink,
    RunFinished,
    RunStarted,
    serialise_event,
    validate,
)
from ethogram.payloads import KnownPayload
from relay import __version__
from relay.clock import Clock, SystemClock, iso_8601
from relay.record.command import Ending, RunningCommand
from relay.record.interruption import Interruption

HARNESS: Final = f"ethogram-relay record {__version__}"
TOOL: Final = "command"
"""The one tool of a recorded session: the command itself."""
EXIT_NOT_FOUND: Final = 127
EXIT_NOT_EXECUTABLE: Final = 126
"""As shells say it."""


class Destination(Protocol):
    """Where stamped events go. It notes what goes wrong and says so when it is closed."""

    def write(self, key: bytes | None, value: bytes) -> None:
        """Take one event, canonical, keyed by its run id."""
        ...


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What is said of a session besides what it did.

    Attributes:
        actor: Who it runs for.
        repository: What it works on.
        work_order: What it was asked for.
        timeout_s: The longest it may run; declared as its `wallMs` ceiling.
        tee: Where the command's streams are passed on to, 1 and 2.
        interruption: The signals that are passed on to it.
    """

    actor: str
    repository: str | None = None
    work_order: str | None = None
    timeout_s: float | None = None
    tee: Mapping[int, BinaryIO] = field(default_factory=dict)
    interruption: Interruption | None = None


def user_name() -> str:
    """Name the user, as far as the system knows one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


class Session:
    """Records one command.

    Args:
        settings: What is said of it.
        destination: Where its events go, each as soon as it is captured.
        clock: The producer's clock and the sink's.
    """

    def __init__(self, settings: SessionSettings, destination: Destination, clock: Clock | None = None) -> None:
        self.run_id = str(uuid.uuid4())
        self._settings = settings
        self._destination = destination
        self._clock = clock or SystemClock()
        self._sink = InMemorySink(self._now)
        self._started_s = self._clock.monotonic_s()

    def run(self, argv: Sequence[str]) -> Ending:
        """Run the command to its end.

        Args:
            argv: The program and its arguments.

        Returns:
            How it ended; `unstarted` where it could not be started.
        """
        self._emit(self._opening())
        try:
            settings = self._settings
            command = RunningCommand(argv, settings.tee, settings.timeout_s, self._clock, settings.interruption)
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            ending = _unstarted(error)
        else:
            ending = self._observe(argv, command)
        self._finish(ending)
        return ending

    def _observe(self, argv: Sequence[str], command: RunningCommand) -> Ending:
        tool_use_id = str(uuid.uuid4())
        self._emit(AgentStarted(pid=command.pid))
        line = json.dumps(list(argv), ensure_ascii=False, separators=(",", ":"))
        self._emit(AgentToolUse(tool=TOOL, tool_use_id=tool_use_id, input_excerpt=line))
        ending = command.watch()
        printed = command.printed.text
        if printed:
            self._emit(AgentText(text=printed, parent_tool_use_id=tool_use_id))
        is_error = ending.outcome != "completed"
        self._emit(AgentToolResult(tool=TOOL, tool_use_id=tool_use_id, is_error=is_error, result_excerpt=printed))
        self._emit(AgentCompleted(duration_ms=self._duration_ms()))
        return ending

    def _opening(self) -> RunStarted:
        settings = self._settings
        timeout_s = settings.timeout_s
        return RunStarted(
            kind="session",
            actor=settings.actor,
            harness=HARNESS,
            repository=settings.repository,
            work_order=settings.work_order,
            ceilings=None if timeout_s is None else Ceilings(wall_ms=round(timeout_s * 1000)),
        )

    def _finish(self, ending: Ending) -> None:
        self._emit(RunFinished(outcome=ending.outcome, duration_ms=self._duration_ms(), reason=ending.reason))

    def _emit(self, payload: KnownPayload) -> None:
        """Excerpt, draft, validate, stamp and hand on."""
        draft = payload.excerpted().draft(captured_at=self._now())
        validate(draft.type, draft.payload)
        event = self._sink.append_draft(self.run_id, draft)
        self._destination.write(event.run_id.encode(), serialise_event(event))

    def _now(self) -> str:
        return iso_8601(self._clock.now_ms())

    def _duration_ms(self) -> int:
        return round((self._clock.monotonic_s() - self._started_s) * 1000)


def _unstarted(error: OSError | ValueError) -> Ending:
    """The command never ran."""
    if isinstance(error, FileNotFoundError):
        return Ending("unstarted", "missing binary: no such file or directory", EXIT_NOT_FOUND)
    said = error.strerror if isinstance(error, OSError) else "an argument holds a NUL"
    return Ending("unstarted", f"spawn failure: {said}", EXIT_NOT_EXECUTABLE)
