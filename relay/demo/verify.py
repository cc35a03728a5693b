"""Holds what was sent against what arrived, byte by byte. Pure: records in, a report out.

Nothing here asks the relay what it did: the reader's own records, and the protocol kit, have to do.

Spec: The envelope; Capture
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ethogram import EthogramError, Event, fold_run, parse_event, prove_gapless, validate
from relay.codec import CodecError, decode_quarantined
from relay.demo.feed import Sent
from relay.records import SourceRecord

Place = tuple[str, int, int]
"""Topic, partition and offset of a source record."""


class _Contents(NamedTuple):
    """What must arrive unchanged: everything of a record but where it stands."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int


@dataclass(slots=True)
class Report:
    """What came out.

    Attributes:
        consumed: Source records.
        forwarded: Those that are on the unified topic, unchanged and in the order of their run.
        refused: Those that a `capture.refused` names, and that are in quarantine, unchanged.
        lost: Those that are neither.
        changed: Records on the unified topic or in quarantine that are not what was sent, or not in its order.
        broken: Other promises that were not kept, in words.
        refusals: What was broken and the cause that it was refused with, to the number of records.
    """

    consumed: int = 0
    forwarded: int = 0
    refused: int = 0
    lost: int = 0
    changed: int = 0
    broken: list[str] = field(default_factory=list)
    refusals: Counter[tuple[str | None, str]] = field(default_factory=Counter)

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.changed or self.broken)

    def last_line(self) -> str:
        """The result in one line."""
        return (
            f"demo: consumed {self.consumed}, forwarded {self.forwarded}, refused {self.refused}, "
            f"lost {self.lost}, changed {self.changed}"
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was read.

    Attributes:
        sent: What the producers had acknowledged.
        sources: Every record of the source topics.
        unified: Every record of the unified topic.
        quarantine: Every record of the quarantine topic.
        own_run_prefix: How the relay's own run ids begin.
    """

    sent: Sequence[Sent]
    sources: Sequence[SourceRecord]
    unified: Sequence[SourceRecord]
    quarantine: Sequence[SourceRecord]
    own_run_prefix: str


def verify(evidence: Evidence) -> Report:
    """Compare.

    Args:
        evidence: What was read.

    Returns:
        The report.
    """
    report = Report(consumed=len(evidence.sources))
    sources = {_place(record): record for record in evidence.sources}
    prefix = evidence.own_run_prefix.encode()
    own = [record for record in evidence.unified if (record.key or b"").startswith(prefix)]
    forwarded = [record for record in evidence.unified if not (record.key or b"").startswith(prefix)]
    _compare_sources(evidence.sent, sources, report)
    causes = _read_refusals(own, report)
    _compare_refused(causes, sources, evidence.quarantine, report)
    _compare_forwarded([record for place, record in sources.items() if place not in causes], forwarded, report)
    _compare_verdicts(evidence.sent, causes, report)
    _prove_runs("the relay's own run", own, report, finished=True)
    _prove_runs("the unified runs", forwarded, report, finished=False)
    return report


def _place(record: SourceRecord) -> Place:
    return record.topic, record.partition, record.offset


def _contents(record: SourceRecord) -> _Contents:
    return _Contents(record.partition, record.key, record.value, tuple(record.headers or ()), record.timestamp_ms)


def _compare_sources(sent: Iterable[Sent], sources: Mapping[Place, SourceRecord], report: Report) -> None:
    """What was acknowledged must stand in the source topics, else there is nothing to compare the rest with."""
    for entry in sent:
        found = sources.get(_place(entry.record))
        if found is None:
            report.lost += 1
        elif _contents(found) != _contents(entry.record):
            report.changed += 1


def _read_refusals(own: Iterable[SourceRecord], report: Report) -> dict[Place, str]:
    """The causes of refusals by the places that their headers name, each of them once."""
    causes: dict[Place, str] = {}
    for record in own:
        event = parse_event(record.value or b"")
        if event.type != "capture.refused":
            continue
        headers = {name: (value or b"").decode() for name, value in record.headers or ()}
        place = (
            headers["relay.source.topic"],
            int(headers["relay.source.partition"]),
            int(headers["relay.source.offset"]),
        )
        if place in causes:
            report.broken.append(f"{place[0]} partition {place[1]} offset {place[2]} was refused more than once")
        causes[place] = str(event.payload["cause"])
    return causes


def _compare_refused(
    causes: Mapping[Place, str],
    sources: Mapping[Place, SourceRecord],
    quarantine: Iterable[SourceRecord],
    report: Report,
) -> None:
    """Every refused record is in quarantine, once and unchanged, and nothing else is."""
    kept: defaultdict[Place, list[SourceRecord]] = defaultdict(list)
    for record in quarantine:
        try:
            refused = decode_quarantined(record.value or b"").record
        except CodecError:
            report.broken.append(f"quarantine partition {record.partition} offset {record.offset} cannot be read")
            continue
        kept[_place(refused)].append(refused)
    for place in causes:
        copies, source = kept.pop(place, []), sources.get(place)
        if source is None:
            report.broken.append(f"{place[0]} partition {place[1]} offset {place[2]} was refused and never sent")
        elif not copies:
            report.lost += 1
        elif [_contents(copy) for copy in copies] != [_contents(source)]:
            report.changed += 1
        else:
            report.refused += 1
    report.changed += sum(len(copies) for copies in kept.values())


def _compare_forwarded(expected: Iterable[SourceRecord], found: Iterable[SourceRecord], report: Report) -> None:
    """Run by run, what was not refused must be there, unchanged and in its order, and nothing else."""
    expected_runs, found_runs = _by_key(expected), _by_key(found)
    for key in expected_runs.keys() | found_runs.keys():
        wanted, got = expected_runs.get(key, []), found_runs.get(key, [])
        if wanted == got:
            report.forwarded += len(wanted)
            continue
        missing, extra = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
        # A record that is missing where a strange one stands was changed; one that nothing stands for is lost.
        report.lost += max(0, missing.total() - extra.total())
        report.changed += extra.total()
        report.forwarded += (Counter(wanted) & Counter(got)).total()
        if not missing and not extra:
            report.changed += sum(one != other for one, other in zip(wanted, got, strict=True))


def _by_key(records: Iterable[SourceRecord]) -> dict[bytes | None, list[_Contents]]:
    runs: defaultdict[bytes | None, list[_Contents]] = defaultdict(list)
    for record in records:
        runs[record.key].append(_contents(record))
    return runs


def _compare_verdicts(sent: Iterable[Sent], causes: Mapping[Place, str], report: Report) -> None:
    """Each record that was broken on purpose is refused with the cause that the protocol names, and no other is."""
    for entry in sent:
        wanted, got = entry.cause.value if entry.cause else None, causes.get(_place(entry.record))
        if wanted != got:
            topic, partition, offset = _place(entry.record)
            report.broken.append(
                f"{topic} partition {partition} offset {offset}: expected {wanted or 'it forwarded'}, got {got}"
            )
        if got is not None:
            report.refusals[entry.why, got] += 1


def _prove_runs(said: str, records: Iterable[SourceRecord], report: Report, *, finished: bool) -> None:
    """Every run is gapless and folds, by the kit's own proof; every event passes its validation.

    Args:
        said: Which runs, for a person.
        records: Their records, each run's in order.
        report: Told of what is not so.
        finished: Whether each of them must have its end.
    """
    runs: defaultdict[str, list[Event]] = defaultdict(list)
    try:
        events = [parse_event(record.value or b"") for record in records]
        for event in events:
            validate(event.type, event.payload)
            runs[event.run_id].append(event)
        prove_gapless(events)
        views = [fold_run(run) for run in runs.values()]
    except EthogramError as error:
        report.broken.append(f"{said}: {error}")
        return
    if finished and not (views and all(view is not None and not view.is_open for view in views)):
        report.broken.append(f"{said}: expected it finished")
