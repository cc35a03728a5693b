"""The canonical form written a second time, slowly, from its description: what the kit's writer is held against.

It shares nothing with the kit. Numbers follow ECMA-262, Number::toString, step by step in exact fractions; strings
and keys are written character by character.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any

_ESCAPES = {chr(code): f"\\u{code:04x}" for code in range(0x20)} | {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def write_event(members: dict[str, Any]) -> bytes:
    """Write an event from its members under their wire names."""
    names = ["v", "type", "runId", "seq", "ts", "payload"] + ["capturedAt"] * ("capturedAt" in members)
    return ("{" + ",".join(f'"{name}":{_write(members[name])}' for name in names) + "}").encode()


def write_value(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write one JSON value; recursive, so of no more levels than Python's own stack allows."""
    return _write(value).encode()


def _write(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, list):
        return "[" + ",".join([_write(element) for element in value]) + "]"
    if isinstance(value, dict):
        ordered = sorted(value, key=lambda key: list(key.encode()))
        return "{" + ",".join([_write_text(key) + ":" + _write(value[key]) for key in ordered]) + "}"
    return write_number(float(value))


def _write_text(text: str) -> str:
    return '"' + "".join([_ESCAPES.get(character, character) for character in text]) + '"'


@lru_cache(maxsize=4096)
def write_number(x: float) -> str:  # noqa: PLR0911 - one return a step
    """Number::toString(x, 10) of ECMA-262 for a finite number; the words of the steps stand beside them."""
    if x == 0:
        return "0"  # 2. If x is either +0 or -0, return "0".
    if x < 0:
        return "-" + write_number(-x)  # 3. If x < -0, the string-concatenation of "-" and toString(-x).
    n, s = _digits(x)  # 5. n, k and s such that 10^(k-1) <= s < 10^k, s * 10^(n-k) is x, and k is as small as possible.
    k = len(s)
    if -5 <= n <= 21:  # 6. If radix is not 10 or n is in the inclusive interval from -5 to 21, then
        if n >= k:
            return s + "0" * (n - k)  # 6.a the digits, followed by n - k zeros.
        if n > 0:
            return s[:n] + "." + s[n:]  # 6.b the most significant n digits, a point, the remaining k - n digits.
        return "0." + "0" * -n + s  # 6.c "0.", -n zeros, the digits.
    sign = "+" if n > 0 else "-"  # 7. If n < 0, let exponentSign be "-". 8. Else "+".
    e = sign + str(abs(n - 1))
    if k == 1:
        return s + "e" + e  # 9. the digit, "e", exponentSign, abs(n - 1).
    return s[0] + "." + s[1:] + "e" + e  # 10. the first digit, a point, the rest, "e", exponentSign, abs(n - 1).


def _digits(x: float) -> tuple[int, str]:
    """The n and the digits of s: as few as read back as x; of those the closest to x, and the even one of two."""
    exact = Fraction(x)
    n = len(str(int(exact))) if exact >= 1 else 0
    while Fraction(10) ** n > exact * 10:
        n -= 1
    while Fraction(10) ** n <= exact:
        n += 1
    for k in range(1, 18):
        scaled = exact * Fraction(10) ** (k - n)
        below = scaled.numerator // scaled.denominator
        fitting = [s for s in (below, below + 1) if s > 0 and float(f"{s}e{n - k}") == x]
        if fitting:
            s = min(fitting, key=lambda s: (abs(s - scaled), s % 2))
            # 9.9 may be nearest to 10: then the digits are one more, and so is n.
            return (n, str(s)) if s < 10**k else (n + 1, str(s)[:k])
    raise AssertionError("17 digits tell any two doubles apart")
