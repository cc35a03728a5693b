"""How far a reader is in one run: what it takes next, and what it was not given.

It must never look at an event: it knows numbers alone.

Spec: The envelope
"""

from bisect import bisect_left
from enum import Enum

from ethogram.bounds import FIRST_SEQ


class SeqPlace(Enum):
    """Where a `seq` stands among those that were taken before."""

    NEXT = "the next one"
    AHEAD = "beyond the next one; what lies between is missing"
    LATE = "one that was missing until now"
    REPEAT = "one that was taken before, or lies before the beginning"


class SeqCursor:
    """The numbers that were taken of one run. It holds the missing ranges, so its size follows them alone.

    Attributes:
        begin_seq: the 1-based `seq` that was expected first.
        next_seq: one above the highest `seq` taken.
    """

    __slots__ = ("_missing_first", "_missing_last", "begin_seq", "next_seq")

    def __init__(self, begin_seq: int = FIRST_SEQ) -> None:
        """Take nothing yet.

        Args:
            begin_seq: the 1-based `seq` that is expected first.
        """
        self.begin_seq: int = begin_seq
        self.next_seq: int = begin_seq
        self._missing_first: list[int] = []
        self._missing_last: list[int] = []

    def take(self, seq: int) -> SeqPlace:
        """Take a number: in constant time in order, else by bisection of the missing ranges.

        Args:
            seq: a 1-based `seq`.

        Returns:
            Where it stood before it was taken.

        Spec: The envelope
        """
        if seq == self.next_seq:
            self.next_seq = seq + 1
            return SeqPlace.NEXT
        if seq > self.next_seq:
            self._missing_first.append(self.next_seq)
            self._missing_last.append(seq - 1)
            self.next_seq = seq + 1
            return SeqPlace.AHEAD
        index = bisect_left(self._missing_last, seq)
        if index == len(self._missing_last) or self._missing_first[index] > seq:
            return SeqPlace.REPEAT
        self._fill(index, seq)
        return SeqPlace.LATE

    def _fill(self, index: int, seq: int) -> None:
        """Take a number out of a missing range, which shrinks, parts or goes."""
        first, last = self._missing_first[index], self._missing_last[index]
        rest = [(start, end) for start, end in ((first, seq - 1), (seq + 1, last)) if start <= end]
        self._missing_first[index : index + 1] = [start for start, _end in rest]
        self._missing_last[index : index + 1] = [end for _start, end in rest]

    def missing(self) -> tuple[tuple[int, int], ...]:
        """The missing numbers below `next_seq`, as ascending ranges, both ends included.

        Spec: The envelope
        """
        return tuple(zip(self._missing_first, self._missing_last, strict=True))
