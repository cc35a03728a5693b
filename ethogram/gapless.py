"""Whether runs are gapless: a proof that stops at the first fault, and an audit that reports every one.

It must never judge what an event says; of payloads it reads those of refusals alone, for they explain holes.

Spec: The envelope
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ethogram.audit import (
    AfterFinish,
    Audit,
    AuditedRun,
    Hole,
    LateArrival,
    RefusedTail,
    Repeat,
    SeenRefusal,
    SeqRange,
    name_source_run,
)
from ethogram.bounds import FIRST_SEQ
from ethogram.envelope import Event, is_seq
from ethogram.errors import FoldError, RunClosedError, SequenceError
from ethogram.representable import find_payload_fault
from ethogram.seqs import SeqCursor, SeqPlace
from ethogram.vocabulary.capture import CAPTURE_REFUSED
from ethogram.vocabulary.run import RUN_FINISHED


def prove_gapless(events: Iterable[Event]) -> dict[str, int]:
    """Prove that every run in a series goes 1, 2, 3, … and that nothing follows its `run.finished`.

    Args:
        events: events of any number of runs, each run's in order.

    Returns:
        The last `seq` of every run.

    Raises:
        SequenceError: an event is not the next of its run.
        RunClosedError: an event follows its run's finish.

    Spec: The envelope
    """
    last_seqs: dict[str, int] = {}
    finished: set[str] = set()
    for event in events:
        if event.run_id in finished:
            raise RunClosedError(event.run_id)
        expected = last_seqs.get(event.run_id, FIRST_SEQ - 1) + 1
        if event.seq != expected:
            raise SequenceError(event.run_id, expected, event.seq)
        last_seqs[event.run_id] = event.seq
        if event.type == RUN_FINISHED.name:
            finished.add(event.run_id)
    return last_seqs


def audit_runs(events: Iterable[Event], from_seqs: Mapping[str, int] | None = None) -> Audit:
    """Report every hole of every run, with the refusals that explain it, and all that came out of order.

    Args:
        events: events of any number of runs, in any order; refusals may stand before or after what they explain.
        from_seqs: for a reader who joined late, the 1-based `seq` it began to read a run at. A run that is not named
            there is expected from 1, so one that begins higher has a hole.

    Returns:
        The report.

    Raises:
        FoldError: a `capture.refused` was made by hand and is not representable.
        ValueError: one of `from_seqs` is no `seq`.

    Spec: Capture
    """
    auditor = Auditor(from_seqs)
    for event in events:
        auditor.add(event)
    return auditor.audit()


class _RunTrack:
    """What an auditor holds of one run."""

    __slots__ = ("after_finish", "cursor", "finish_seq", "late", "repeats")

    def __init__(self, begin_seq: int) -> None:
        self.cursor = SeqCursor(begin_seq)
        self.finish_seq: int | None = None
        self.repeats: list[tuple[int, int]] = []
        self.late: list[tuple[int, int]] = []
        self.after_finish: list[int] = []


class Auditor:
    """Audits a stream while it is read: no event is kept, and no disorder stops it.

    It holds a few numbers for each run, hole and fault, and each refusal without its narration.

    Spec: Capture
    """

    def __init__(self, from_seqs: Mapping[str, int] | None = None) -> None:
        """See no event yet.

        Args:
            from_seqs: the 1-based `seq` that each of these runs is read from; other runs are expected from 1.

        Raises:
            ValueError: one of them is no `seq`.
        """
        self._from_seqs = dict(from_seqs or {})
        if not all(map(is_seq, self._from_seqs.values())):
            raise ValueError("from_seqs: expected integers from 1, got another value")
        self._tracks: dict[str, _RunTrack] = {}
        self._refusals: dict[str, list[SeenRefusal]] = {}

    def add(self, event: Event) -> None:
        """See the next event of the stream.

        Args:
            event: an event; it is not kept.

        Raises:
            FoldError: it is a `capture.refused` that was made by hand and is not representable; nothing changes.

        Spec: Capture
        """
        if event.type == CAPTURE_REFUSED.name:
            self._add_refusal(event)
        track = self._tracks.get(event.run_id)
        if track is None:
            track = self._tracks[event.run_id] = _RunTrack(self._from_seqs.get(event.run_id, FIRST_SEQ))
        if track.finish_seq is not None and event.seq > track.finish_seq:
            track.after_finish.append(event.seq)
            return
        expected = track.cursor.next_seq
        place = track.cursor.take(event.seq)
        if place is SeqPlace.REPEAT:
            track.repeats.append((expected, event.seq))
            return
        if place is SeqPlace.LATE:
            track.late.append((expected, event.seq))
        if event.type == RUN_FINISHED.name and track.finish_seq is None:
            track.finish_seq = event.seq

    def _add_refusal(self, event: Event) -> None:
        fault = find_payload_fault(event.type, event.payload)
        if fault is not None:
            raise FoldError(f"{fault.path}: {fault.fault} (audit)")
        refusal = SeenRefusal.read(event.run_id, event.seq, event.payload)
        self._refusals.setdefault(refusal.source_run_id, []).append(refusal)

    def audit(self) -> Audit:
        """Report on what was seen so far; more may be added afterwards.

        Returns:
            A report that later events do not change. It takes time by the runs, faults and refusals, not by the events
            or by how many numbers are missing.

        Spec: Capture
        """
        refusals = {run_id: _Refusals(found) for run_id, found in self._refusals.items()}
        runs = {
            run_id: _report_run(run_id, track, refusals.get(name_source_run(run_id), _NO_REFUSALS))
            for run_id, track in self._tracks.items()
        }
        seen = set(map(name_source_run, runs))
        begins = {name_source_run(run_id): seq for run_id, seq in self._from_seqs.items()}
        unseen = (
            _report_tail(run_id, begins.get(run_id, FIRST_SEQ) - 1, found)
            for run_id, found in sorted(refusals.items())
            if run_id not in seen
        )
        return Audit(MappingProxyType(runs), tuple(tail for tail in unseen if tail is not None))


class _Refusals:
    """The refusals that name one source run, each once, sorted by the number that they name."""

    def __init__(self, refusals: Iterable[SeenRefusal] = ()) -> None:
        each = sorted(set(refusals), key=lambda refusal: refusal.order)
        self.placed = [refusal for refusal in each if refusal.source_seq is not None]
        self.unplaced = tuple(refusal for refusal in each if refusal.source_seq is None)
        self._seqs = [refusal.order[0] for refusal in self.placed]

    def within(self, first_seq: int, last_seq: int) -> tuple[SeenRefusal, ...]:
        """Those that name a number from the first to the last."""
        return tuple(self.placed[bisect_left(self._seqs, first_seq) : bisect_right(self._seqs, last_seq)])

    def above(self, seq: int) -> tuple[SeenRefusal, ...]:
        """Those that name a higher number."""
        return tuple(self.placed[bisect_right(self._seqs, seq) :])


_NO_REFUSALS = _Refusals()


def _report_run(run_id: str, track: _RunTrack, refusals: _Refusals) -> AuditedRun:
    last_seq = track.cursor.next_seq - 1
    return AuditedRun(
        run_id,
        track.cursor.begin_seq,
        last_seq,
        track.finish_seq is not None,
        tuple(_report_hole(run_id, first, last, refusals) for first, last in track.cursor.missing()),
        tuple(Repeat(run_id, wanted, got, refusals.within(got, got)) for wanted, got in track.repeats),
        tuple(LateArrival(run_id, wanted, got) for wanted, got in track.late),
        tuple(
            AfterFinish(run_id, track.finish_seq or last_seq, seq, refusals.within(seq, seq))
            for seq in track.after_finish
        ),
        _report_tail(run_id, last_seq, refusals),
    )


def _report_hole(run_id: str, first_seq: int, last_seq: int, refusals: _Refusals) -> Hole:
    found = refusals.within(first_seq, last_seq)
    unexplained: list[SeqRange] = []
    start = first_seq
    for refusal in found:
        seq = refusal.order[0]
        if seq > start:
            unexplained.append(SeqRange(start, seq - 1))
        start = seq + 1
    if start <= last_seq:
        unexplained.append(SeqRange(start, last_seq))
    return Hole(run_id, first_seq, last_seq, found, tuple(unexplained), refusals.unplaced)


def _report_tail(run_id: str, last_seq: int, refusals: _Refusals) -> RefusedTail | None:
    above = refusals.above(last_seq)
    if not above and not refusals.unplaced:
        return None
    return RefusedTail(run_id, last_seq, above, refusals.unplaced)
