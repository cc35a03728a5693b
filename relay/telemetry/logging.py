"""One structured line per fact: JSON off a terminal, readable on one. Content of events never reaches it."""

import logging
import sys
from typing import Any, Final

import structlog
from structlog.typing import FilteringBoundLogger

Log = FilteringBoundLogger
"""The structured log, as the parts that write to it are typed."""

_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logging(level: str = "info") -> None:
    """Set up the process's log on standard error.

    Args:
        level: `debug`, `info`, `warning` or `error`.
    """
    terminal = sys.stderr.isatty()
    renderer: Any = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer(sort_keys=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            *([] if terminal else [structlog.processors.format_exc_info]),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )


def get_log() -> Log:
    """The process's structured log."""
    log: Log = structlog.get_logger()
    return log
