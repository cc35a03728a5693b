"""The only reader of time. Everything else is handed a `Clock`, so that a test can hold it still."""

import datetime as dt
import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one for what is written down, one for measuring how long something took."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start; never runs backwards."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, UTC."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start; never runs backwards."""
        return time.monotonic()


def iso_8601(epoch_ms: int) -> str:
    """Spell an instant as the wire does, in UTC with milliseconds.

    Args:
        epoch_ms: Milliseconds since the epoch.

    Returns:
        For example `2026-12-01T08:30:00.125Z`.
    """
    seconds, millis = divmod(epoch_ms, 1000)
    moment = dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{millis:03d}Z"
