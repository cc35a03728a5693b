"""Counts: everything produced to the sources against everything that the relay made of it.

Independent of the relay: outcomes come from `tests.support.plan`, Avro is read by the schemas that ship, runs are
proven gapless with the protocol kit's own tools. What does not add up is an AssertionError that names the record.
"""

import hashlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import fastavro
import fastavro.schema
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ethogram import Event, excerpt, fold_run, parse_event, prove_gapless, validate
from tests.support.plan import Cursor, Model, Planned, SourcePlan
from tests.support.records import ReadRecord, read_all
from tests.support.relay_process import Metrics

SCHEMAS = Path(__file__).resolve().parents[2] / "relay" / "schemas"
MARKER = b"\xc3\x01"
FINGERPRINT_END = 10
SCALARS_MAX = 4096
TIMESTAMP_HEADROOM_MS = 3_600_000
WAIT_INTERVAL_S = 0.1
PRODUCE_TIMEOUT_S = 30.0
PRODUCED_BYTES_MAX = 4_000_000


class Place(NamedTuple):
    """Where a source record stands."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Produced:
    """A source record that was acknowledged, with what is known of it."""

    place: Place
    planned: Planned
    timestamp_ms: int
    cause: str | None
    """Why it must be refused, None if it must be forwarded."""
    finding: str


@dataclass(frozen=True)
class Outputs:
    """The names of the topics that the relay writes, and its own."""

    name: str
    unified: str
    changelog: str
    relays: str
    quarantine: str


@dataclass(frozen=True)
class OwnRun:
    """One run of a relay, with its events in order."""

    run_id: str
    events: tuple[Event, ...]

    @property
    def ending(self) -> Mapping[str, Any] | None:
        """The payload of its `run.finished`, None while it is open."""
        last = self.events[-1]
        return last.payload if last.type == "run.finished" else None

    @property
    def identity(self) -> str:
        """`<name>/<instance>`."""
        return self.run_id.rpartition("/")[0]


@dataclass
class Tally:
    """What was counted and proven."""

    forwarded: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    own_runs: list[OwnRun] = field(default_factory=list)
    """In the order in which they were started."""
    refusals: dict[Place, Mapping[str, Any]] = field(default_factory=dict)
    """The payloads of `capture.refused`."""

    def causes(self) -> Counter[str]:
        """Refusals by cause, over all sources."""
        causes: Counter[str] = Counter()
        for (_topic, cause), count in self.refused.items():
            causes[cause] += count
        return causes

    def endings(self) -> Counter[str]:
        """Own runs by outcome, `open` for those that have none."""
        return Counter("open" if run.ending is None else str(run.ending["outcome"]) for run in self.own_runs)

    def __str__(self) -> str:
        """One line for a test's report."""
        return (
            f"forwarded {self.forwarded.total()}, refused {dict(self.causes())}, findings {self.findings.total()}, "
            f"own runs {dict(self.endings())}"
        )


def avro(schema: str, value: bytes | None) -> dict[str, Any]:
    """Read a value in Avro's single-object encoding by one of the schemas that ship, checking its fingerprint."""
    parsed = fastavro.parse_schema(json.loads((SCHEMAS / f"{schema}.avsc").read_text(encoding="utf-8")))
    canonical = fastavro.schema.to_parsing_canonical_form(parsed)
    fingerprint = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))
    assert value is not None, f"{schema}: expected a value, got a tombstone"
    assert value[:FINGERPRINT_END] == MARKER + fingerprint, f"{schema}: unexpected fingerprint"
    body = BytesIO(value[FINGERPRINT_END:])
    fields = fastavro.schemaless_reader(body, parsed, None)
    assert isinstance(fields, dict)
    assert not body.read(), f"{schema}: bytes after the end of the value"
    return fields


def murmur2_partition(key: bytes, partitions: int) -> int:
    """The partition that the Java client chooses: MurmurHash2 over 32 bits, its sign bit taken away, modulo."""
    mask, magic = 0xFFFFFFFF, 0x5BD1E995
    digest = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * magic & mask
        digest = (digest * magic & mask) ^ ((word ^ word >> 24) * magic & mask)
    if key[whole:]:
        digest = (digest ^ int.from_bytes(key[whole:], "little")) * magic & mask
    digest = (digest ^ digest >> 13) * magic & mask
    return ((digest ^ digest >> 15) & 0x7FFFFFFF) % partitions


class Ledger:
    """Produces, remembers, and proves.

    Args:
        bootstrap_servers: The broker.
        sources: The source topics.
        outputs: What the relay writes.
        partitions: Partitions of every source.
        unified_partitions: Partitions of the unified topic.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        sources: Iterable[SourcePlan],
        outputs: Outputs,
        partitions: int,
        unified_partitions: int,
    ) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._sources = {source.topic: source for source in sources}
        self._outputs = outputs
        self._partitions = partitions
        self._unified_partitions = unified_partitions
        self._model = Model(self._sources)
        self._by_timestamp: dict[int, Produced] = {}
        self._next_timestamp_ms = time.time_ns() // 1_000_000 - TIMESTAMP_HEADROOM_MS
        # Silent: a failed test keeps its clients, and they would tell of a broker that has been stopped.
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,
                "message.max.bytes": PRODUCED_BYTES_MAX,
                "log_level": 0,
            }
        )

    @property
    def produced(self) -> list[Produced]:
        """Every source record so far."""
        return list(self._by_timestamp.values())

    def know(self, partition: int, run_id: str, cursor: Cursor) -> None:
        """Take in a run's state that a test wrote to the changelog itself."""
        self._model.runs[partition, run_id] = cursor

    def produce(self, topic: str, planned: Iterable[Planned], *, judged: bool = True) -> list[Place]:
        """Produce records to one source; each gets a CreateTime of its own, by which it is found again.

        Where a run is in two sources, the calls must be in the order in which the relay will judge them.

        Args:
            topic: The source topic.
            planned: The records.
            judged: False for records that must be left unjudged: seen among the outputs, they are a fault.

        Returns:
            Where they stand, all of them acknowledged.
        """
        wanted = list(planned)
        stamps = range(self._next_timestamp_ms, self._next_timestamp_ms + len(wanted))
        self._next_timestamp_ms = stamps.stop
        places: dict[int, Place] = {}

        def deliver(index: int) -> Callable[[KafkaError | None, Message], None]:
            def delivered(error: KafkaError | None, message: Message) -> None:
                partition, offset = message.partition(), message.offset()
                if error is None and partition is not None and offset is not None:
                    places[index] = Place(topic, partition, offset)

            return delivered

        for index, (record, stamp) in enumerate(zip(wanted, stamps, strict=True)):
            headers: Any = list(record.headers)
            partition = record.partition_of(self._partitions)
            self._producer.produce(topic, record.value, record.key, partition, deliver(index), None, stamp, headers)
            self._producer.poll(0)
        self._producer.flush(PRODUCE_TIMEOUT_S)
        assert len(places) == len(wanted), f"{topic}: expected {len(wanted)} acknowledged, got {len(places)}"
        for index, (record, stamp) in enumerate(zip(wanted, stamps, strict=True)):
            place = places[index]
            if not judged:
                continue
            cause = self._model.cause(topic, place.partition, record)
            finding = self._model.finding(topic, record) if cause is None else ""
            self._by_timestamp[stamp] = Produced(place, record, stamp, cause, finding)
        return [places[index] for index in range(len(wanted))]

    def ends(self) -> dict[tuple[str, int], int]:
        """The offset after the last record of every topic-partition that has one."""
        ends: dict[tuple[str, int], int] = {}
        for produced in self._by_timestamp.values():
            topic, partition, offset = produced.place
            ends[topic, partition] = max(ends.get((topic, partition), 0), offset + 1)
        return ends

    def committed(self) -> dict[tuple[str, int], int]:
        """The group's committed offsets of every source partition that has one."""
        asked = [TopicPartition(topic, number) for topic in self._sources for number in range(self._partitions)]
        request = [ConsumerGroupTopicPartitions(self._outputs.name, asked)]
        (future,) = self._admin.list_consumer_group_offsets(request, require_stable=True, request_timeout=30).values()
        return {(at.topic, at.partition): at.offset for at in future.result(30).topic_partitions if at.offset >= 0}

    def wait_judged(self, timeout_s: float = 60.0) -> None:
        """Wait until the group's committed offsets are at the end of everything produced.

        Raises:
            TimeoutError: If they are not in time; it says which are behind.
        """
        deadline = time.monotonic() + timeout_s
        ends = self.ends()
        while True:
            committed = self.committed()
            behind = {at: (committed.get(at), end) for at, end in ends.items() if committed.get(at) != end}
            if not behind:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"expected everything judged in {timeout_s:.0f} s, got (committed, end) {behind}")
            time.sleep(WAIT_INTERVAL_S)

    def prove(self, *, offsets_kept: bool = True) -> Tally:
        """Prove that every source record is forwarded once, byte for byte, or refused once, and all that goes with it.

        Args:
            offsets_kept: False where a test itself did away with committed offsets, which then are not looked at.

        Raises:
            AssertionError: If something does not add up.
        """
        tally = Tally()
        read = self._read_outputs()
        unified = read[self._outputs.unified]
        own = [record for record in unified if self._is_own(record)]
        forwarded = [record for record in unified if not self._is_own(record)]
        self._prove_own_runs(own, read[self._outputs.relays], tally)
        self._prove_refusals(own, tally)
        self._prove_forwarded(forwarded, tally)
        self._prove_order(forwarded)
        self._prove_gapless(forwarded, tally)
        self._prove_quarantine(own, read[self._outputs.quarantine])
        if offsets_kept:
            assert self.committed() == self.ends()
        self._prove_state(read[self._outputs.changelog])
        missing = [p for p in self._by_timestamp.values() if p.cause is not None and p.place not in tally.refusals]
        assert not missing, f"expected refused, got nothing: {[(p.place, p.cause) for p in missing[:5]]}"
        assert tally.forwarded.total() + tally.refused.total() == len(self._by_timestamp)
        print(f"ledger: {len(self._by_timestamp)} produced, {tally}")  # noqa: T201 - pytest shows it with a failure
        return tally

    def prove_metrics(self, tally: Tally, metrics: Metrics) -> None:
        """Hold one relay's metrics, which must have judged everything in one life, against the counts."""
        name = "ethogram_relay_"
        for topic in self._sources:
            refused = sum(count for (source, _cause), count in tally.refused.items() if source == topic)
            consumed = metrics.value(f"{name}records_consumed_total", source=topic)
            assert consumed == tally.forwarded[topic] + refused
            assert metrics.value(f"{name}records_forwarded_total", source=topic) == tally.forwarded[topic]
            for cause in ("malformed", "over_bound", "finished", "duplicate", "gap"):
                counted = metrics.value(f"{name}records_refused_total", source=topic, cause=cause)
                assert counted == tally.refused[topic, cause], f"{topic}: {cause}"
            values = [
                len(p.planned.value or b"")
                for p in self._by_timestamp.values()
                if p.place.topic == topic and p.cause is None
            ]
            assert metrics.value(f"{name}bytes_forwarded_total", source=topic) == sum(values)
        findings = {
            (dict(labels)["source"], dict(labels)["kind"]): count
            for (sample, labels), count in metrics.samples.items()
            if sample == f"{name}validation_findings_total"
        }
        assert findings == dict(tally.findings)

    def _read_outputs(self) -> dict[str, list[ReadRecord]]:
        """Read what the relay wrote, read-committed; all topics at a time, since each is mostly waited for."""
        names = self._outputs
        wanted = (names.unified, names.changelog, names.relays, names.quarantine)
        with ThreadPoolExecutor(len(wanted)) as threads:
            return dict(
                zip(wanted, threads.map(lambda topic: read_all(self._bootstrap_servers, topic), wanted), strict=True)
            )

    def _is_own(self, record: ReadRecord) -> bool:
        return (record.key or b"").startswith(f"{self._outputs.name}/".encode())

    def _prove_own_runs(self, own: list[ReadRecord], relays: list[ReadRecord], tally: Tally) -> None:
        """Every run of a relay is gapless from 1, starts as a relay's run, and is closed or known to be open."""
        runs: dict[str, list[Event]] = defaultdict(list)
        for record in own:
            event = parse_event(record.value or b"")
            validate(event.type, event.payload)
            assert record.key == event.run_id.encode()
            assert record.partition == murmur2_partition(record.key, self._unified_partitions)
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
            assert (view.kind, view.actor) == ("relay", self._outputs.name)
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
        at = {produced.place: produced for produced in self._by_timestamp.values()}
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
            produced = self._by_timestamp.get(record.timestamp_ms)
            assert produced is not None, f"{where}: its CreateTime is of no record that was produced"
            assert produced.cause is None, f"{where}: forwarded, should be refused as {produced.cause}: {produced}"
            assert record.timestamp_ms not in seen, f"{where}: forwarded twice: {produced.place}"
            seen.add(record.timestamp_ms)
            planned = produced.planned
            assert (record.value, record.key) == (planned.value, planned.key), where
            assert record.headers == planned.headers, where
            kept = self._unified_partitions == self._partitions
            wanted = (
                produced.place.partition if kept else murmur2_partition(record.key or b"", self._unified_partitions)
            )
            assert record.partition == wanted, where
            tally.forwarded[produced.place.topic] += 1
            if produced.finding:
                tally.findings[produced.place.topic, produced.finding] += 1
        missing = [p.place for p in self._by_timestamp.values() if p.cause is None and p.timestamp_ms not in seen]
        assert not missing, f"lost {len(missing)}, such as {missing[:5]}"

    def _prove_order(self, forwarded: list[ReadRecord]) -> None:
        """Records of one source partition (of one run, where keys hash anew) keep their order."""
        kept = self._unified_partitions == self._partitions
        last: dict[tuple[str, int, bytes], int] = {}
        for record in forwarded:
            place = self._by_timestamp[record.timestamp_ms or 0].place
            lane = (place.topic, place.partition, b"" if kept else record.key or b"")
            assert place.offset > last.get(lane, -1), f"out of order: {place}"
            last[lane] = place.offset

    def _prove_gapless(self, forwarded: list[ReadRecord], tally: Tally) -> None:
        """Where sources hold, every run is gapless; where one advances, each hole is explained by a refusal."""
        events: list[Event] = []
        seqs: dict[str, list[int]] = defaultdict(list)
        for record in forwarded:
            produced = self._by_timestamp[record.timestamp_ms or 0]
            if self._sources[produced.place.topic].after_refusal == "hold":
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
        refused = {p.place: p for p in self._by_timestamp.values() if p.cause is not None}
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
            assert (record.key, kept["cause"]) == (planned.key, produced.cause), place
            assert kept["source_run_id"] == attributed_to(produced), place
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
        assert positions == self.ends()
        assert runs == {at: (run.next_seq, run.finished, run.owner) for at, run in self._model.runs.items()}


def attributed_to(produced: Produced) -> str:
    """The run that a refusal is attributed to, whole."""
    topic, partition, offset = produced.place
    run_id = produced.planned.run_id
    return run_id if run_id is not None else f"unattributed:{topic}:{partition}:{offset}"


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
