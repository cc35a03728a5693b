"""How instants are spelled."""

import pytest

from relay.clock import SystemClock, iso_8601


@pytest.mark.parametrize(
    ("epoch_ms", "spelled"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (1_764_577_800_125, "2025-12-01T08:30:00.125Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_instants_are_iso_8601_in_utc(epoch_ms: int, spelled: str) -> None:
    """An instant is spelled in UTC with three digits of milliseconds."""
    assert iso_8601(epoch_ms) == spelled


def test_the_machines_clocks_run_forwards() -> None:
    """The system clock gives milliseconds of this century and seconds that never run backwards."""
    clock = SystemClock()
    assert clock.now_ms() > 1_700_000_000_000
    first = clock.monotonic_s()
    assert clock.monotonic_s() >= first
