"""Replays cases and reports them: no case is skipped unasked, and none ends the run.

Spec: The founding decision: two implementations, one corpus
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from conformance.cases import read_cases
from conformance.compare import agree, shorten
from conformance.kits import Kit, KitFault, OwnKit
from conformance.vectors import Vector, VectorFileError


@dataclass(frozen=True, slots=True)
class Failure:
    """One case that failed, or one file that could not be read.

    Attributes:
        id: the case's name; empty for a file.
        place: where it stands.
        expected: what was wanted, on one line.
        got: the verdict given, or what stood in its way, on one line.
    """

    id: str
    place: str
    expected: str
    got: str

    def render(self) -> str:
        """The lines of a report: which case, what was wanted, what came."""
        if not self.id:
            return f"ERROR {self.got}"
        return f"FAILED {self.id} ({self.place})\n  expected {self.expected}\n  got      {self.got}"

    def to_json(self) -> str:
        """The same as one line of JSON."""
        return json.dumps({"id": self.id, "place": self.place, "expected": self.expected, "got": self.got})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is besides its cases and its kit.

    Attributes:
        ops: the operations that are run; empty for all.
        fail_fast: whether to end at the first failure.
        as_json: whether each failure is a line of JSON, and the count as well.
    """

    ops: Collection[str] = ()
    fail_fast: bool = False
    as_json: bool = False


def replay(vector: Vector, kit: Kit) -> Failure | None:
    """Replay one case.

    Args:
        vector: the case.
        kit: what is asked for its verdict.

    Returns:
        The failure, or None where the verdicts agree. A kit that gives no verdict fails the case.

    Spec: The founding decision: two implementations, one corpus
    """
    try:
        verdict = kit.judge(vector)
    except KitFault as fault:
        return Failure(vector.id, vector.place, shorten(vector.expect), str(fault))
    if agree(vector.expect, verdict):
        return None
    return Failure(vector.id, vector.place, shorten(vector.expect), shorten(verdict))


def _outcomes(paths: Iterable[Path], kit: Kit, ops: Collection[str]) -> Iterator[Failure | Vector | None]:
    """Each failure, None for each case that passed, each case that was left out, a failure for each unreadable file."""
    for path in paths:
        try:
            for vector in read_cases(path):
                yield vector if ops and vector.op not in ops else replay(vector, kit)
        except VectorFileError as error:
            yield Failure("", str(path), "", str(error))


def run(paths: Iterable[Path], out: TextIO, kit: Kit | None = None, options: Options | None = None) -> int:
    """Replay every case under paths and write the report.

    Args:
        paths: vector files, folders of them, or the captured corpus.
        out: takes each failure, then `N passed, M failed` as the last line.
        kit: what is asked; this repository's own where it is None.
        options: how; all of it where it is None.

    Returns:
        The exit code: 0, or 1 where a case failed, a file could not be read, or there was no case at all.

    Spec: The founding decision: two implementations, one corpus
    """
    kit, options = kit or OwnKit(), options or Options()
    passed = failed = left_out = 0
    for outcome in _outcomes(paths, kit, options.ops):
        if outcome is None:
            passed += 1
        elif isinstance(outcome, Vector):
            left_out += 1
        else:
            failed += 1
            out.write(f"{outcome.to_json() if options.as_json else outcome.render()}\n")
            if options.fail_fast:
                break
    if options.as_json:
        out.write(json.dumps({"passed": passed, "failed": failed, "leftOut": left_out}) + "\n")
    else:
        if options.ops:
            out.write(f"only {', '.join(sorted(options.ops))}: {left_out} cases of other operations were left out\n")
        out.write(f"{passed} passed, {failed} failed\n")
    return 0 if passed and not failed else 1
