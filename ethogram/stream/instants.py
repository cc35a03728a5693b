"""How long it is from one time stamp to another, where both can be read.

It must never read a clock, nor refuse a text: time stamps are any string on the wire.

Spec: The envelope
"""

import re
from calendar import monthrange, timegm
from typing import Final

_ISO_8601: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?", re.ASCII
)
_FRACTION_DIGITS: Final = 9
_NS_PER_S: Final = 10**_FRACTION_DIGITS
_NS_PER_MS: Final = 1_000_000
_HOURS_MAX, _MINUTES_MAX, _SECONDS_MAX, _MONTHS_MAX = 23, 59, 60, 12


def elapsed_ms(earlier: str, later: str) -> float | None:
    """Measure from one time stamp to another.

    Args:
        earlier: ISO-8601 in its extended form, with seconds: `2026-01-01T00:00:00.000Z`.
        later: the same.

    Returns:
        Milliseconds, negative where the clock went back; None where one of them is no such text, or one names its zone
        and the other does not.

    Spec: The envelope
    """
    start, end = _read(earlier), _read(later)
    if start is None or end is None or start[1] is not end[1]:
        return None
    return (end[0] - start[0]) / _NS_PER_MS


def _read(text: str) -> tuple[int, bool] | None:
    """Nanoseconds since the epoch, and whether the text names its zone; None where it cannot be read."""
    match = _ISO_8601.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    if not year or not 1 <= month <= _MONTHS_MAX or not 1 <= day <= monthrange(year, month)[1]:
        return None
    fraction, zulu, sign, zone_hour, zone_minute = match.group(7, 8, 9, 10, 11)
    ahead_hour, ahead_minute = int(zone_hour or 0), int(zone_minute or 0)
    if max(hour, ahead_hour) > _HOURS_MAX or max(minute, ahead_minute) > _MINUTES_MAX or second > _SECONDS_MAX:
        return None
    ahead_s = (ahead_hour * 60 + ahead_minute) * (-60 if sign == "-" else 60)
    fraction_ns = int((fraction or "0")[:_FRACTION_DIGITS].ljust(_FRACTION_DIGITS, "0"))
    epoch_s = timegm((year, month, day, hour, minute, second)) - ahead_s
    return epoch_s * _NS_PER_S + fraction_ns, bool(zulu or sign)
