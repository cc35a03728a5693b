"""Replays cases and reports them: no case is skipped, and none ends the run.

Spec: The founding decision: two implementations, one corpus
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO

from conformance.adapters import ADAPTERS, Adapter
from conformance.compare import agree, shorten
from conformance.vectors import Vector, VectorFileError, find_files, read_vectors


@dataclass(frozen=True, slots=True)
class Failure:
    """One case that failed.

    Attributes:
        vector: the case.
        got: the verdict given, or what stood in its way, on one line.
    """

    vector: Vector
    got: str

    def render(self) -> str:
        """The three lines of a report: which case, what was wanted, what came."""
        place, wanted = self.vector.place, shorten(self.vector.expect)
        return f"FAILED {self.vector.id} ({place})\n  expected {wanted}\n  got      {self.got}"


def replay(vector: Vector, adapters: Mapping[str, Adapter] = ADAPTERS) -> Failure | None:
    """Replay one case.

    Args:
        vector: the case.
        adapters: the operations that are known, by name.

    Returns:
        The failure, or None where the verdicts agree. An error that escapes the kit is a failure, as is an operation
        that is not known.

    Spec: The founding decision: two implementations, one corpus
    """
    adapter = adapters.get(vector.op)
    if adapter is None:
        return Failure(vector, f"no adapter for the operation {shorten(vector.op, 60)}")
    try:
        verdict = adapter(vector.input)
    except Exception as error:  # noqa: BLE001 - whatever escapes is this case's failure, not the run's end
        return Failure(vector, f"{type(error).__name__} escaped: {shorten(str(error))}")
    return None if agree(vector.expect, verdict) else Failure(vector, shorten(verdict))


def _outcomes(paths: Iterable[Path]) -> Iterator[str | None]:
    """The report of each failure, None for each case that passed, and one report for a file that cannot be read."""
    for path in paths:
        try:
            for vector in chain.from_iterable(map(read_vectors, find_files(path))):
                failure = replay(vector)
                yield None if failure is None else failure.render()
        except VectorFileError as error:
            yield f"ERROR {error}"


def run(paths: Iterable[Path], out: TextIO) -> int:
    """Replay every case under paths and write the report.

    Args:
        paths: vector files, or folders of them.
        out: takes each failure, then `N passed, M failed` as the last line.

    Returns:
        The exit code: 0, or 1 where a case failed, a file could not be read, or there was no case at all.

    Spec: The founding decision: two implementations, one corpus
    """
    passed = failed = 0
    for outcome in _outcomes(paths):
        if outcome is None:
            passed += 1
        else:
            failed += 1
            out.write(f"{outcome}\n")
    out.write(f"{passed} passed, {failed} failed\n")
    return 0 if passed and not failed else 1
