"""What an audit of a series of events says: frozen values, and a plain text of them.

It must never hold or print content: runs are named, numbers given, and a cause outside the closed set is not repeated.

Spec: Capture
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from ethogram.bounds import MAX_EXCERPT_SCALARS
from ethogram.envelope import JsonValue
from ethogram.errors import shorten_path
from ethogram.excerpt import excerpt
from ethogram.vocabulary.capture import REFUSAL_CAUSE


@dataclass(frozen=True, slots=True)
class SeenRefusal:
    """A `capture.refused` that a reader saw.

    Attributes:
        cause: as it came, familiar or not.
        run_id: the run of the runtime that refused.
        seq: the refusal's own `seq` on that run.
        source_run_id: the run of the refused event, cut to 4,096 scalars.
        source_seq: the refused event's `seq`; None where the refusal tells none.
    """

    cause: str
    run_id: str
    seq: int
    source_run_id: str
    source_seq: int | None = None

    @classmethod
    def read(cls, run_id: str, seq: int, payload: Mapping[str, JsonValue]) -> "SeenRefusal":
        """Read one from the payload of a `capture.refused`, which must be representable.

        Args:
            run_id: the run that the refusal stands on.
            seq: its 1-based `seq` there.
            payload: its payload; not kept.

        Returns:
            The refusal, without its narration.

        Spec: Capture
        """
        source_seq = int(payload.get("sourceSeq", 0))  # 5.0 and 5 are one value on this wire.
        return cls(
            payload["cause"],
            run_id,
            seq,
            name_source_run(payload["sourceRunId"]),
            source_seq or None,  # 0 is a count, and no `seq`.
        )

    @property
    def order(self) -> tuple[int, str, int]:
        """What refusals of one source run are sorted by, whatever order they came in."""
        return self.source_seq or 0, self.run_id, self.seq


def name_source_run(run_id: str) -> str:
    """A run's id as a refusal gives it: at most 4,096 scalars.

    Spec: Capture
    """
    return excerpt(run_id, MAX_EXCERPT_SCALARS).text


@dataclass(frozen=True, slots=True)
class SeqRange:
    """Numbers of a run without a break.

    Attributes:
        first_seq: the first, 1-based.
        last_seq: the last, included.
    """

    first_seq: int
    last_seq: int

    @property
    def count(self) -> int:
        """How many numbers it has."""
        return self.last_seq - self.first_seq + 1


@dataclass(frozen=True, slots=True)
class Hole:
    """Numbers of a run that no event came with.

    Attributes:
        run_id: the run.
        first_seq: the first missing number, 1-based.
        last_seq: the last one, included.
        refusals: refusals that name one of these numbers, in their order.
        unexplained: the numbers that no refusal names.
        possible_refusals: refusals that name the run and no number; each may explain a number here, or elsewhere.
    """

    run_id: str
    first_seq: int
    last_seq: int
    refusals: tuple[SeenRefusal, ...] = ()
    unexplained: tuple[SeqRange, ...] = ()
    possible_refusals: tuple[SeenRefusal, ...] = ()

    @property
    def missing_count(self) -> int:
        """How many numbers are missing."""
        return self.last_seq - self.first_seq + 1

    @property
    def is_explained(self) -> bool:
        """Whether a refusal names each of its numbers."""
        return not self.unexplained


@dataclass(frozen=True, slots=True)
class Repeat:
    """An event whose `seq` had come before, or lies before where the reader began.

    Attributes:
        run_id: the run.
        expected: the `seq` that the run would have taken next.
        received: the `seq` that came.
        refusals: refusals that name this number.
    """

    run_id: str
    expected: int
    received: int
    refusals: tuple[SeenRefusal, ...] = ()


@dataclass(frozen=True, slots=True)
class LateArrival:
    """An event that came after one with a higher `seq`: out of order, though not missing.

    Attributes:
        run_id: the run.
        expected: the `seq` that the run would have taken next.
        received: the `seq` that came.
    """

    run_id: str
    expected: int
    received: int


@dataclass(frozen=True, slots=True)
class AfterFinish:
    """An event beyond the `run.finished` of its run.

    Attributes:
        run_id: the run.
        finish_seq: the `seq` of its finish.
        received: the `seq` that came.
        refusals: refusals that name this number.
    """

    run_id: str
    finish_seq: int
    received: int
    refusals: tuple[SeenRefusal, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedTail:
    """Refusals of a run's events beyond the last one seen: what came was refused, and nothing came after it.

    Attributes:
        run_id: the run, as the refusals name it.
        last_seq: the last `seq` seen; one below where the reader began if none was.
        refusals: refusals that name a number above it, in their order.
        possible_refusals: refusals that name the run and no number.
    """

    run_id: str
    last_seq: int
    refusals: tuple[SeenRefusal, ...] = ()
    possible_refusals: tuple[SeenRefusal, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """What an audit says of one run.

    Attributes:
        run_id: the run.
        begin_seq: the `seq` that it was expected to begin with, 1 unless the reader said otherwise.
        last_seq: the last one seen that is not beyond its finish.
        is_finished: whether its `run.finished` was seen.
        holes: what is missing, ascending.
        repeats: what came again, as it came.
        late: what came out of order, as it came.
        after_finish: what came beyond its finish, as it came.
        tail: what was refused beyond the last one seen; None where nothing was.
    """

    run_id: str
    begin_seq: int
    last_seq: int
    is_finished: bool
    holes: tuple[Hole, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    late: tuple[LateArrival, ...] = ()
    after_finish: tuple[AfterFinish, ...] = ()
    tail: RefusedTail | None = None

    @property
    def is_gapless(self) -> bool:
        """Whether its events went up by one from where the reader began, and none followed its finish."""
        return not (self.holes or self.repeats or self.late or self.after_finish)


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit says of a series of events.

    Attributes:
        runs: every run seen, by its id, in the order of first sight.
        unseen: runs that refusals name and none of whose events was seen.
    """

    runs: Mapping[str, AuditedRun]
    unseen: tuple[RefusedTail, ...] = ()

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The holes of every run."""
        return tuple(chain.from_iterable(run.holes for run in self.runs.values()))

    @property
    def repeats(self) -> tuple[Repeat, ...]:
        """The repeats of every run."""
        return tuple(chain.from_iterable(run.repeats for run in self.runs.values()))

    @property
    def late(self) -> tuple[LateArrival, ...]:
        """The late arrivals of every run."""
        return tuple(chain.from_iterable(run.late for run in self.runs.values()))

    @property
    def after_finish(self) -> tuple[AfterFinish, ...]:
        """What came beyond the finish of any run."""
        return tuple(chain.from_iterable(run.after_finish for run in self.runs.values()))

    @property
    def tails(self) -> tuple[RefusedTail, ...]:
        """The refused tails of every run, those of unseen runs last."""
        return (*(run.tail for run in self.runs.values() if run.tail is not None), *self.unseen)

    @property
    def last_seqs(self) -> dict[str, int]:
        """The last `seq` of every run, as `prove_gapless` returns it."""
        return {run_id: run.last_seq for run_id, run in self.runs.items()}

    @property
    def is_gapless(self) -> bool:
        """Whether `prove_gapless` would hold: every run in order, none with a hole, nothing beyond a finish."""
        return all(run.is_gapless for run in self.runs.values())

    @property
    def is_explained(self) -> bool:
        """Whether a refusal names every missing number. Repeats, and what follows a finish, miss nothing."""
        return all(hole.is_explained for hole in self.holes)

    def render(self) -> str:
        """Write the report as plain text, a line for each finding; runs that are gapless are only counted.

        Returns:
            Lines that end in a line feed; run ids are shortened and what is not printable in them is escaped.

        Spec: Capture
        """
        return "\n".join([*_render_head(self), *_render_findings(self)]) + "\n"


def _render_head(audit: Audit) -> Iterator[str]:
    finished_count = sum(run.is_finished for run in audit.runs.values())
    missing_count = sum(hole.missing_count for hole in audit.holes)
    unexplained_count = sum(part.count for hole in audit.holes for part in hole.unexplained)
    yield f"runs: {len(audit.runs)}, of which {finished_count} finished"
    yield f"missing: {missing_count} in {len(audit.holes)} holes, of which {unexplained_count} unexplained"
    yield f"repeated: {len(audit.repeats)}, late: {len(audit.late)}, beyond a finish: {len(audit.after_finish)}"


def _render_findings(audit: Audit) -> Iterator[str]:
    for run in audit.runs.values():
        name = _printable(run.run_id)
        for hole in run.holes:
            yield f"{name}: {_numbers(hole.first_seq, hole.last_seq)} missing"
            yield from map(_render_refusal, hole.refusals)
            yield from (f"  {_numbers(part.first_seq, part.last_seq)} unexplained" for part in hole.unexplained)
            yield from map(_render_refusal, hole.possible_refusals)
        yield from (f"{name}: {one.received} again, expected {one.expected}" for one in run.repeats)
        yield from (f"{name}: {one.received} late, expected {one.expected}" for one in run.late)
        yield from (f"{name}: {one.received} beyond the finish at {one.finish_seq}" for one in run.after_finish)
    for tail in audit.tails:
        yield f"{_printable(tail.run_id)}: refused beyond {tail.last_seq}"
        yield from map(_render_refusal, (*tail.refusals, *tail.possible_refusals))


def _render_refusal(refusal: SeenRefusal) -> str:
    which = "perhaps" if refusal.source_seq is None else f"{refusal.source_seq}"
    cause = refusal.cause if refusal.cause in REFUSAL_CAUSE.names else "an unfamiliar cause"
    return f"  {which} refused by {_printable(refusal.run_id)} at {refusal.seq}: {cause}"


def _numbers(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"


def _printable(run_id: str) -> str:
    """A run's id on one line: it is a producer's text and may hold anything."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in shorten_path(run_id))
