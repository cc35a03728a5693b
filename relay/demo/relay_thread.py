"""One relay in a thread of this process, its log kept instead of printed."""

import threading
from collections import deque
from typing import Final

import structlog
from structlog.typing import EventDict, WrappedLogger

from relay.app import RelayApp, Telemetering
from relay.clock import Clock
from relay.demo.ground import Ground
from relay.errors import StartUpError
from relay.exit_codes import ExitCode
from relay.telemetry.http import Health
from relay.telemetry.metrics import Metrics

_LINES_KEPT: Final = 20
_EXPECTED: Final = frozenset({"records.refused"})
"""Warnings that the demonstration provokes."""


class RelayThread:
    """Runs the relay.

    Args:
        ground: Where.
        metrics: Its metrics.
        health: Its probes.
        clock: Its clock.
    """

    def __init__(self, ground: Ground, metrics: Metrics, health: Health, clock: Clock) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._failure: list[str] = []
        self._code: ExitCode | None = None
        self._stopping = threading.Event()
        log = structlog.wrap_logger(
            None, processors=[self._note], wrapper_class=structlog.make_filtering_bound_logger("warning")
        )
        telemetering = Telemetering(metrics, health, log)
        self._app = RelayApp(ground.config, telemetering, self._stopping.is_set, embedded=ground.layout, clock=clock)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Ask it to drain, and wait for it.

        Args:
            timeout_s: The bound, seconds.
        """
        self._stopping.set()
        self._thread.join(timeout_s)

    def complaints(self) -> list[str]:
        """Why it did not end well, and what it warned of; empty when all was well."""
        if self._failure:
            return [*self._failure, *self._lines]
        if self._code is not ExitCode.OK:
            said = "it did not stop in time" if self._code is None else f"it ended with {self._code.name}"
            return [said, *self._lines]
        return list(self._lines)

    def _run(self) -> None:
        try:
            self._code = self._app.run()
        except StartUpError as error:
            self._failure = error.faults
        except Exception as error:  # noqa: BLE001 - whatever ends the relay is told in the result, not over the table
            self._failure = [f"{type(error).__name__}: {error}"]

    def _note(self, _logger: WrappedLogger, _method: str, entry: EventDict) -> EventDict:
        if entry["event"] not in _EXPECTED:
            self._lines.append(" ".join(f"{name}={value}" for name, value in entry.items()))
        raise structlog.DropEvent
