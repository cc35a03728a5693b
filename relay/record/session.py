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
    MAX_EXCERPT_SCALARS,
    MAX_TEXT_SCALARS,
    EventDraft,
    InMemorySink,
    excerpt,
    serialise_event,
    validate,
)
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
        self._emit("run.started", self._opening())
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
        call = {"tool": TOOL, "toolUseId": tool_use_id}
        self._emit("agent.started", {"pid": command.pid})
        line = json.dumps(list(argv), ensure_ascii=False, separators=(",", ":"))
        self._emit("agent.tool_use", {**call, **_excerpted("inputExcerpt", line, MAX_EXCERPT_SCALARS)})
        ending = command.watch()
        printed = command.printed.text
        if printed:
            text = _excerpted("text", printed, MAX_TEXT_SCALARS)
            self._emit("agent.text", {**text, "parentToolUseId": tool_use_id})
        result = _excerpted("resultExcerpt", printed, MAX_EXCERPT_SCALARS)
        self._emit("agent.tool_result", {**call, "isError": ending.outcome != "completed", **result})
        self._emit("agent.completed", {"durationMs": self._duration_ms()})
        return ending

    def _opening(self) -> dict[str, object]:
        settings = self._settings
        payload: dict[str, object] = {"kind": "session", "actor": settings.actor, "harness": HARNESS}
        if settings.repository is not None:
            payload["repository"] = settings.repository
        if settings.work_order is not None:
            payload["workOrder"] = settings.work_order
        if settings.timeout_s is not None:
            payload["ceilings"] = {"wallMs": round(settings.timeout_s * 1000)}
        return payload

    def _finish(self, ending: Ending) -> None:
        payload: dict[str, object] = {"outcome": ending.outcome, "durationMs": self._duration_ms()}
        if ending.reason is not None:
            payload |= _excerpted("reason", ending.reason, MAX_EXCERPT_SCALARS)
        self._emit("run.finished", payload)

    def _emit(self, event_type: str, payload: dict[str, object]) -> None:
        """Draft, validate, stamp and hand on."""
        draft = EventDraft(event_type, payload, captured_at=self._now())
        validate(draft.type, draft.payload)
        event = self._sink.append_draft(self.run_id, draft)
        self._destination.write(event.run_id.encode(), serialise_event(event))

    def _now(self) -> str:
        return iso_8601(self._clock.now_ms())

    def _duration_ms(self) -> int:
        return round((self._clock.monotonic_s() - self._started_s) * 1000)


def _excerpted(name: str, text: str, scalars_max: int) -> dict[str, object]:
    """One bounded field, with the flag beside it where it was cut. Spec: On narration."""
    kept, truncated = excerpt(text, scalars_max)
    return {name: kept, "truncated": True} if truncated else {name: kept}


def _unstarted(error: OSError | ValueError) -> Ending:
    """The command never ran."""
    if isinstance(error, FileNotFoundError):
        return Ending("unstarted", "missing binary: no such file or directory", EXIT_NOT_FOUND)
    said = error.strerror if isinstance(error, OSError) else "an argument holds a NUL"
    return Ending("unstarted", f"spawn failure: {said}", EXIT_NOT_EXECUTABLE)
