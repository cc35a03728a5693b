"""Bytes read as choices, so that what a fuzzer changes in bytes changes what is built from them.

Where the bytes end every choice is its first, so short inputs build small things, and any input builds something.
"""

import struct
from collections.abc import Sequence
from typing import TypeVar

from ethogram import MAX_SAFE_INTEGER

ChosenT = TypeVar("ChosenT")

_CHARACTERS = 'a"\\/\x00\x1f\x7f\n é\u2028\ud7ff\ue000\uffff\U00010000\U0001f600'
"""Characters at which writers differ."""

_NUMBERS: Sequence[float] = (
    0, 1, 5.0, -0.0, -1, 0.1, 1e-6, 1e-7, 123.456, 5e-324, MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER, 9007199254740991.0,
    2**53 + 1, -(2**63),
    2**-44, 1.7976931348623157e300,
)  # fmt: skip


class Choices:
    """Choices made by an input's bytes, from its first to its last."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first byte."""
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next bytes; zeros where there are no more."""
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken.ljust(count, b"\0")

    def below(self, limit: int) -> int:
        """An integer from 0 to limit - 1; limit is 256 at most."""
        return self.take(1)[0] % limit

    def wide(self) -> int:
        """An integer of four bytes."""
        return int.from_bytes(self.take(4), "big")

    def chance(self, one_in: int) -> bool:
        """True for one of so many bytes; false where the bytes have ended."""
        return self.take(1)[0] % one_in == one_in - 1

    def pick(self, options: Sequence[ChosenT]) -> ChosenT:
        """One of some options, 65,536 at most."""
        return options[int.from_bytes(self.take(1 if len(options) <= 256 else 2), "big") % len(options)]

    def text(self) -> str:
        """A short text that UTF-8 can hold, of any characters."""
        return "".join(self._character() for _ in range(self.below(6)))

    def _character(self) -> str:
        if self.chance(4):
            point = int.from_bytes(self.take(3), "big") % 0x110000
            return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)
        return self.pick(_CHARACTERS)

    def number(self) -> float:
        """A finite number, an unsafe one now and then; any of the doubles."""
        kind = self.below(4)
        if kind == 0:
            return float(self.pick(_NUMBERS)) if self.chance(2) else self.pick(_NUMBERS)
        if kind == 1:
            return self.wide() - 2**31
        if kind == 2:
            return float(self.wide() % 10 ** self.below(11) / 10 ** self.below(30))
        (double,) = struct.unpack("<d", self.take(8))
        return float(double) if abs(double) < float("inf") else 0.5

    def value(self, levels: int = 4) -> object:
        """A JSON value of a few levels."""
        kind = self.below(7 if levels else 4)
        if kind == 0:
            return self.text()
        if kind == 1:
            return self.number()
        if kind == 2:
            return self.pick((None, True, False))
        if kind == 3:
            return "w" * (self.pick((4095, 4096, 4097, 16_384, 16_385)) if self.chance(16) else self.below(4))
        if kind == 4:
            return [self.value(levels - 1) for _ in range(self.below(5))]
        return {self.text(): self.value(levels - 1) for _ in range(self.below(5))}
