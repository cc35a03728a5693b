"""Takes the Kafka client's own log lines into the structured log: they name brokers and threads, never content."""

import logging
from typing import Final

from relay.telemetry.logging import get_log

_NAME: Final = "ethogram_relay.kafka_client"


class _Forward(logging.Handler):
    """Hands each line on as one structured line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line at its own level."""
        log = get_log()
        write = log.error if record.levelno >= logging.ERROR else log.warning
        (write if record.levelno >= logging.WARNING else log.debug)("kafka_client.said", text=record.getMessage())


def client_logger() -> logging.Logger:
    """The logger that a client is given as its setting `logger`."""
    logger = logging.getLogger(_NAME)
    if not logger.handlers:
        logger.addHandler(_Forward())
        logger.propagate = False
        logger.setLevel(logging.INFO)
    return logger
