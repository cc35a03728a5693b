"""Time stamps as durations, where they can be read."""

import pytest

from ethogram.stream.instants import elapsed_ms

START = "2026-02-28T23:59:59.000Z"


@pytest.mark.parametrize(
    ("later", "elapsed"),
    [
        ("2026-02-28T23:59:59.000Z", 0.0),
        ("2026-03-01T00:00:00Z", 1_000.0),
        ("2026-03-01t00:00:00.25z", 1_250.0),
        ("2026-03-01 00:00:00,0000005Z", 1_000.0005),
        ("2026-02-28T23:59:59.0000000000009Z", 0.0),
        ("2026-03-01T05:30:00+05:30", 1_000.0),
        ("2026-02-28T16:00:00-0800", 1_000.0),
        ("2026-03-01T02:00:00+02", 1_000.0),
        ("2026-02-28T23:59:60Z", 1_000.0),
        ("2026-02-28T23:59:58Z", -1_000.0),
        ("2028-02-29T23:59:59Z", 731 * 86_400_000.0),
    ],
)
def test_time_passes_as_the_stamps_say(later: str, elapsed: float) -> None:
    """Zones, fractions, leap days and leap seconds are understood; a clock that goes back makes it negative."""
    assert elapsed_ms(START, later) == elapsed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "2026-01-01T00:00:00Zx",
        "2026-01-01T00:00:00",
        "2026-01-01",
        "٢٠٢٦-01-01T00:00:00Z",
    ],
)
def test_what_is_no_instant_has_no_duration(text: str) -> None:
    """Any string may stand as a time stamp; one without a zone is no instant beside one that has it."""
    assert elapsed_ms(START, text) is None
    assert elapsed_ms(text, START) is None


def test_two_stamps_without_a_zone_are_of_the_same_one() -> None:
    """A sink that writes no zone writes none twice."""
    assert elapsed_ms("2026-01-01T00:00:00", "2026-01-01T00:00:01") == 1_000.0
