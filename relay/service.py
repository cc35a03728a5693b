"""`ethogram-relay run`: configuration, signals, probes and exit codes around one relay."""

import os
import signal
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

from relay.app import RelayApp, Telemetering
from relay.clock import SystemClock
from relay.config import Config, load_config
from relay.errors import ConfigError, Fatal, Fenced, StartUpError
from relay.exit_codes import ExitCode
from relay.telemetry.http import Health, TelemetryServer
from relay.telemetry.logging import configure_logging, get_log
from relay.telemetry.metrics import Metrics


class StopSignal:
    """Set by SIGTERM and SIGINT; the second one ends the process at once."""

    def __init__(self) -> None:
        self.asked = False

    def install(self) -> None:
        """Listen to the signals."""
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, self._ask)

    def __call__(self) -> bool:
        """Whether a stop was asked for."""
        return self.asked

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        if self.asked:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.asked = True


def serve(path: Path, environment: Mapping[str, str], log_level: str) -> ExitCode:
    """Run the service until it is told to stop or cannot go on.

    Args:
        path: The configuration file.
        environment: The process environment.
        log_level: `debug`, `info`, `warning` or `error`.

    Returns:
        The exit code; every fault was logged.
    """
    configure_logging(log_level)
    log = get_log()
    stop = StopSignal()
    stop.install()
    try:
        config = load_config(path, environment)
        return _serve(config, stop)
    except ConfigError as error:
        for fault in error.faults:
            log.error("config.refused", fault=fault)
        return ExitCode.CONFIGURATION
    except StartUpError as error:
        for fault in error.faults:
            log.error("topics.refused", fault=fault)
        return ExitCode.STARTUP
    except Fenced as error:
        log.error("relay.fenced", reason=str(error))
        return ExitCode.FENCED
    except Fatal as error:
        log.error("relay.failed", reason=str(error))
        return ExitCode.FATAL
    except Exception as error:  # noqa: BLE001 - a process must end with a code that is documented, whatever ends it
        # A fault of ours. Its text may hold anything, so that its type and place must do.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        log.error("relay.failed", reason=type(error).__name__, file=Path(frame.filename).name, line=frame.lineno)
        return ExitCode.FATAL


def _end_fenced(error: Fenced) -> NoReturn:
    """End at once: whatever is still in hand is not ours any more, and a client that lives on could join once more."""
    get_log().error("relay.fenced", reason=str(error))
    os._exit(ExitCode.FENCED)


def _serve(config: Config, stop: StopSignal) -> ExitCode:
    clock = SystemClock()
    metrics = Metrics(config.source_topics)
    health = Health(clock)
    server = TelemetryServer(config.http.host, config.http.port, metrics, health)
    server.start()
    log = get_log()
    log.info("relay.started", identity=config.identity, sources=list(config.source_topics), http_port=server.port)
    try:
        return RelayApp(config, Telemetering(metrics, health, log), stop, fenced=_end_fenced, clock=clock).run()
    finally:
        server.stop()
