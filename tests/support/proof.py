"""Proves what the relay wrote against the books, by the protocol kit's own tools where they have one.

Independent of the relay's judgement: outcomes come from `tests.support.plan`. What does not add up is an AssertionError
that names the record.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ethogram import Event, excerpt, fold_run, parse_event, prove_gapless, validate
from tests.support.formats import avro, murmur2_partition
from tests.support.plan import Cursor, SourcePlan
from tests.support.records import ReadRecord
from tests.support.tally import Outputs, OwnRun, Place, Produced, Tally

SCALARS_MAX = 4_096
QUARANTINE_KEY_BYTES_MAX = 4_096


@dataclass(frozen=True)
class Books:
    """What the outputs are held against.

    Attributes:
        sources: The source topics, by name.
        outputs: What the relay writes.
        partitions: Partitions of every source.
        unified_partitions: Partitions of the unified topic.
        by_timestamp: Every source record that must be judged, by its CreateTime.
        runs: What each run has reached by now, by partition number and run id.
        ends: The offset after the last record of each source partition that has one.
    """

    sources: Mapping[str, SourcePlan]
    outputs: Outputs
    partitions: int
    unified_partitions: int
    by_timestamp: Mapping[int, Produced]
    runs: Mapping[tuple[int, str], Cursor]
    ends: Mapping[tuple[str, int], int]


class Proof:
    """Holds everything that was read from the outputs against the books.

    Args:
        books: What must be.
        read: What is: topic name to its records, read-committed.
    """

    def __init__(self, books: Books, read: Mapping[str, list[ReadRecord]]) -> None:
        self._books = books
        self._read = read

    def tally(self) -> Tally:
        """Prove everything.

        Returns:
            The counts.

        Raises:
            AssertionError: If something does not add up.
        """
        tally, books, names = Tally(), self._books, self._books.outputs
        unified = self._read[names.unified]
        own = [record for record in unified if self._is_own(record)]
        forwarded = [record for record in unified if not self._is_own(record)]
        self._prove_own_runs(own, self._read[names.relays], tally)
        self._prove_refusals(own, tally)
        self._prove_forwarded(forwarded, tally)
        self._prove_order(forwarded)
        self._prove_gapless(forwarded, tally)
        self._prove_quarantine(own, self._read[names.quarantine])
        self._prove_state(self._read[names.changelog])
        missing = [p for p in books.by_timestamp.values() if p.cause is not None and p.place not in tally.refusals]
        assert not missing, f"expected refused, got nothing: {[(p.place, p.cause) for p in missing[:5]]}"
        assert tally.forwarded.total() + tally.refused.total() == len(books.by_timestamp)
        return tally

    def _is_own(self, record: ReadRecord) -> bool:
        return (record.key or b"").startswith(f"{self._books.outputs.name}/".encode())

    def _prove_own_runs(self, own: list[ReadRecord], relays: list[ReadRecord], tally: Tally) -> None:
        """Every run of a relay is gapless from 1, starts as a relay's run, and is closed or known to be open."""
        runs: dict[str, list[Event]] = defaultdict(list)
        for record in own:
            event = parse_event(record.value or b"")
            validate(event.type, event.payload)
            assert record.key == event.run_id.encode()
            assert record.partition == murmur2_partition(record.key, self._books.unified_partitions)
            runs[event.run_id].append(event)
        open_runs: dict[str, dict[str, Any]] = {}
        for record in relays:
            identity = (record.key or b"").decode()
            open_runs.pop(identity, None)
            if record.value is not None:
                open_runs[identity] = avro("relay_run", record.value)
        for run_id, events in runs.items():
            assert prove_gapless(events) == {run_id: len(events)}
            assert events[0].type == "run.started", run_id
            view = fold_run(events)
            assert view is not None
            assert (view.kind, view.actor) == ("relay", self._books.outputs.name)
            run = OwnRun(run_id, tuple(events))
            entry = open_runs.get(run.identity, {})
            if view.is_open:
                assert (entry.get("run_id"), entry.get("next_seq")) == (run_id, len(events) + 1), run_id
            else:
                assert entry.get("run_id") != run_id, f"{run_id} is closed and still listed as open"
                assert events[-1].type == "run.finished"
            tally.own_runs.append(run)
        assert {entry["run_id"] for entry in open_runs.values()} <= runs.keys()
        tally.own_runs.sort(key=lambda run: run.events[0].ts)

    def _prove_refusals(self, own: list[ReadRecord], tally: Tally) -> None:
        """Every refusal names one source record that must be refused so, none of them twice."""
        at = {produced.place: produced for produced in self._books.by_timestamp.values()}
        for record in own:
            event = parse_event(record.value or b"")
            if event.type != "capture.refused":
                assert record.headers == ()
                continue
            headers = dict(record.headers)
            place = Place(
                (headers["relay.source.topic"] or b"").decode(),
                int(headers["relay.source.partition"] or b"-1"),
                int(headers["relay.source.offset"] or b"-1"),
            )
            assert place in at, f"refused, and never produced: {place}"
            assert place not in tally.refusals, f"refused twice: {place}"
            produced = at[place]
            assert event.payload["cause"] == produced.cause, f"{place}: {event.payload} for {produced.planned.type}"
            _prove_refusal(event.payload, headers, produced)
            tally.refusals[place] = event.payload
            tally.refused[place.topic, event.payload["cause"]] += 1

    def _prove_forwarded(self, forwarded: list[ReadRecord], tally: Tally) -> None:
        """Every forwarded record is one that was produced, to the byte, and none comes twice."""
        seen: set[int] = set()
        for record in forwarded:
            assert record.timestamp_ms is not None
            where = f"{record.topic}[{record.partition}]@{record.offset}"
            produced = self._books.by_timestamp.get(record.timestamp_ms)
            assert produced is not None, f"{where}: its CreateTime is of no record that was produced"
            assert produced.cause is None, f"{where}: forwarded, should be refused as {produced.cause}: {produced}"
            assert record.timestamp_ms not in seen, f"{where}: forwarded twice: {produced.place}"
            seen.add(record.timestamp_ms)
            planned = produced.planned
            assert (record.value, record.key) == (planned.value, planned.key), where
            assert record.headers == planned.headers, where
            kept = self._books.unified_partitions == self._books.partitions
            wanted = (
                produced.place.partition
                if kept
                else murmur2_partition(record.key or b"", self._books.unified_partitions)
            )
            assert record.partition == wanted, where
            tally.forwarded[produced.place.topic] += 1
            if produced.finding:
                tally.findings[produced.place.topic, produced.finding] += 1
        missing = [p.place for p in self._books.by_timestamp.values() if p.cause is None and p.timestamp_ms not in seen]
        assert not missing, f"lost {len(missing)}, such as {missing[:5]}"

    def _prove_order(self, forwarded: list[ReadRecord]) -> None:
        """Records of one source partition (of one run, where keys hash anew) keep their order."""
        kept = self._books.unified_partitions == self._books.partitions
        last: dict[tuple[str, int, bytes], int] = {}
        for record in forwarded:
            place = self._books.by_timestamp[record.timestamp_ms or 0].place
            lane = (place.topic, place.partition, b"" if kept else record.key or b"")
            assert place.offset > last.get(lane, -1), f"out of order: {place}"
            last[lane] = place.offset

    def _prove_gapless(self, forwarded: list[ReadRecord], tally: Tally) -> None:
        """Where sources hold, every run is gapless; where one advances, each hole is explained by a refusal."""
        events: list[Event] = []
        seqs: dict[str, list[int]] = defaultdict(list)
        for record in forwarded:
            produced = self._books.by_timestamp[record.timestamp_ms or 0]
            if self._books.sources[produced.place.topic].after_refusal == "hold":
                events.append(parse_event(record.value or b""))
            else:
                seqs[produced.planned.run_id or ""].append(produced.planned.seq or 0)
        prove_gapless(events)
        explained = {(payload["sourceRunId"], payload.get("sourceSeq")) for payload in tally.refusals.values()}
        for run_id, found in seqs.items():
            assert found == sorted(set(found)), run_id
            holes = set(range(1, found[-1])) - set(found)
            assert all((run_id, hole) in explained for hole in holes), f"{run_id}: {holes} not explained"

    def _prove_quarantine(self, own: list[ReadRecord], quarantine: list[ReadRecord]) -> None:
        """The quarantine holds every refused record once, whole, and says which refusal it belongs to."""
        refused = {p.place: p for p in self._books.by_timestamp.values() if p.cause is not None}
        published = {(event.run_id, event.seq): event for event in (parse_event(r.value or b"") for r in own)}
        for record in quarantine:
            kept = avro("quarantined", record.value)
            place = Place(kept["topic"], kept["partition"], kept["offset"])
            produced = refused.pop(place, None)
            assert produced is not None, f"in the quarantine twice, or not refused: {place}"
            planned = produced.planned
            assert (kept["key"], kept["value"], kept["timestamp_ms"]) == (
                planned.key,
                planned.value,
                produced.timestamp_ms,
            ), place
            assert tuple((header["name"], header["value"]) for header in kept["headers"]) == planned.headers, place
            assert (record.key, kept["cause"]) == (_quarantine_key(planned.key), produced.cause), place
            assert kept["source_run_id"] == excerpt(attributed_to(produced), SCALARS_MAX).text, place
            event = published[kept["relay_run_id"], kept["relay_seq"]]
            assert (event.type, event.payload["cause"]) == ("capture.refused", produced.cause), place
        assert not refused, f"not in the quarantine: {list(refused)[:5]}"

    def _prove_state(self, changelog: list[ReadRecord]) -> None:
        """The changelog holds the end of what was judged and every run's last state, and nothing else."""
        runs: dict[tuple[int, str], tuple[int, bool, str]] = {}
        positions: dict[tuple[str, int], int] = {}
        for record in changelog:
            kind, _colon, name = (record.key or b"").decode().partition(":")
            if kind == "source":
                positions[name, record.partition] = avro("source_position", record.value)["next_offset"]
            else:
                state = avro("run_state", record.value)
                runs[record.partition, name] = (state["next_seq"], state["finished"], state["source"])
        assert positions == self._books.ends
        assert runs == {at: (run.next_seq, run.finished, run.owner) for at, run in self._books.runs.items()}


def attributed_to(produced: Produced) -> str:
    """The run that a refusal is attributed to, whole."""
    topic, partition, offset = produced.place
    run_id = produced.planned.run_id
    return run_id if run_id is not None else f"unattributed:{topic}:{partition}:{offset}"


def _quarantine_key(key: bytes | None) -> bytes | None:
    """The key of a quarantined record: the source record's, or the digest of one of extravagant length."""
    if key is None or len(key) <= QUARANTINE_KEY_BYTES_MAX:
        return key
    return hashlib.sha256(key).hexdigest().encode()


def _prove_refusal(payload: Mapping[str, Any], headers: Mapping[str, bytes | None], produced: Produced) -> None:
    """A refusal says what the protocol wants of its cause, and nothing more."""
    planned, place = produced.planned, produced.place
    run_id = attributed_to(produced)
    assert payload["sourceRunId"] == excerpt(run_id, SCALARS_MAX).text, place
    names = ["relay.source.topic", "relay.source.partition", "relay.source.offset"]
    if len(run_id) > SCALARS_MAX:
        names.append("relay.source.run.sha256")
        assert headers["relay.source.run.sha256"] == hashlib.sha256(run_id.encode()).hexdigest().encode()
    assert list(headers) == names, place
    if planned.seq is not None:
        assert (payload["sourceSeq"], payload["sourceType"]) == (planned.seq, planned.type), place
    about = {"cause", "sourceRunId", "sourceSeq", "sourceType"}
    if payload["cause"] == "malformed":
        assert payload["detail"], place
        assert payload.keys() <= about | {"detail", "truncated"}, place
    elif payload["cause"] == "over_bound":
        assert payload.keys() == about | {"field", "count", "max"}, place
        assert payload["count"] > payload["max"], place
    else:
        assert payload.keys() == about, place
    # Only where the fault itself is the cause: a broken event out of turn may be refused for its turn.
    if planned.fault is not None and planned.fault.cause == payload["cause"]:
        for name, wanted in planned.fault.fields.items():
            assert payload.get(name) == wanted, f"{place}: {name}"
