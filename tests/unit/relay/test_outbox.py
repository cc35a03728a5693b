"""The outbox: what one transaction writes, and what it makes true."""

import hashlib

import pytest

from ethogram import parse_event
from relay.codec import (
    RelayRun,
    SourcePosition,
    decode_quarantined,
    decode_relay_run,
    decode_run_state,
    decode_source_position,
)
from relay.errors import PartitionFault
from relay.judge.judge import judge
from relay.judge.run_state import RunState
from relay.outbox import Outbox, OutboxLimits
from relay.own_run import OwnRun
from relay.partitions import Partition
from relay.records import SourceRecord, TopicPartition
from relay.run_store import PartitionRuns
from tests.unit.relay.samples import NOW_MS, StillClock, config_of, event_record, noise, record, rules

CHANGELOG, RELAYS, QUARANTINE = "ethogram-relay.changelog", "ethogram-relay.relays", "ethogram-relay.quarantine"


class Staging:
    """An outbox with an own run that is open and committed, and one partition number."""

    def __init__(self, quarantine_record_bytes_max: int = 1_000_000, unified_record_bytes_max: int = 1_000_000) -> None:
        self.clock = StillClock()
        self.own_run = OwnRun("ethogram-relay", "ethogram-relay/i", "u")
        self.own_run.adopt(RelayRun("ethogram-relay/i/1", 2, NOW_MS))
        limits = OutboxLimits(quarantine_record_bytes_max, unified_record_bytes_max)
        self.outbox = Outbox(config_of().topics, self.own_run, limits, self.clock)
        self.partition = Partition(3, PartitionRuns(), None)
        self.partition.topic_ids = {"a": "id-a", CHANGELOG: "id-changelog"}

    def stage(self, *records: SourceRecord, advance: bool = False) -> None:
        """Judge and stage records of one topic-partition."""
        runs = self.partition.runs
        for one in records:
            how = rules(one.topic, advance=advance, own_run_prefix="ethogram-relay/")
            self.outbox.stage(one, judge(one, runs, how), runs)
        if records:
            self.outbox.stage_position(records[-1]._replace(partition=3), self.partition)


def at(seq: int, offset: int, run_id: str = "r") -> SourceRecord:
    """An event of partition 3."""
    return event_record(run_id, seq, offset=offset)._replace(partition=3)


def test_a_new_outbox_is_empty() -> None:
    """Nothing staged is nothing to write."""
    staging = Staging()
    assert staging.outbox.empty
    staging.outbox.seal()
    assert staging.outbox.take_records() == []
    assert staging.outbox.next_offsets == {}


def test_a_forwarded_record_is_handed_out_as_it_is() -> None:
    """A forwarded record stays the record that was read, headers and time included, and is handed out once."""
    staging = Staging()
    one = at(1, 5)._replace(headers=[("h", None), ("h", b"")])
    staging.stage(one)
    assert not staging.outbox.empty
    assert staging.outbox.take_forwards() == [one]
    assert staging.outbox.take_forwards() == []
    assert staging.outbox.next_offsets == {TopicPartition("a", 3): 6}


def test_a_refusal_is_published_and_its_bytes_are_kept() -> None:
    """A refused record makes one event of the own run, with its coordinates, and one quarantine record, whole."""
    staging = Staging()
    refused = at(2, 5)._replace(headers=[("h", None), ("h", b"")])
    staging.stage(refused)
    published, kept = staging.outbox.take_records()
    event = parse_event(published.value or b"")
    assert (published.topic, published.key, published.partition) == ("u", b"ethogram-relay/i/1", -1)
    assert published.headers == [
        ("relay.source.topic", b"a"),
        ("relay.source.partition", b"3"),
        ("relay.source.offset", b"5"),
    ]
    assert (event.run_id, event.seq, event.type) == ("ethogram-relay/i/1", 2, "capture.refused")
    assert event.payload == {"cause": "gap", "sourceRunId": "r", "sourceSeq": 2, "sourceType": "x.seen"}
    assert (kept.topic, kept.key, kept.partition, kept.timestamp_ms) == (QUARANTINE, b"r", -1, NOW_MS)
    quarantined = decode_quarantined(kept.value or b"")
    assert quarantined.record == refused
    assert (quarantined.cause, quarantined.source_run_id) == ("gap", "r")
    assert (quarantined.relay_run_id, quarantined.relay_seq) == ("ethogram-relay/i/1", 2)
    assert quarantined.refused_ms == NOW_MS
    assert staging.outbox.take_forwards() == []


def test_refusals_are_numbered_without_a_gap() -> None:
    """Each refusal of a transaction takes the own run's next number, and each names the other."""
    staging = Staging()
    staging.stage(at(2, 5), at(3, 6), at(4, 7))
    records = staging.outbox.take_records()
    assert [parse_event(r.value or b"").seq for r in records if r.topic == "u"] == [2, 3, 4]
    assert [decode_quarantined(r.value or b"").relay_seq for r in records if r.topic == QUARANTINE] == [2, 3, 4]


def test_a_cut_run_id_is_named_by_its_hash() -> None:
    """A refusal whose run id was cut carries its SHA-256 as a header."""
    staging = Staging()
    staging.stage(at(2, 5, run_id="k" * 4097))
    published = staging.outbox.take_records()[0]
    assert published.headers is not None
    assert published.headers[3:] == [("relay.source.run.sha256", hashlib.sha256(b"k" * 4097).hexdigest().encode())]


def test_a_seal_writes_each_touched_run_once() -> None:
    """A seal writes the last state of every touched run, once, with the clock's time, to the partition's changelog."""
    staging = Staging()
    staging.stage(at(1, 5), at(2, 6), at(1, 7, "q"), at(3, 8))
    staging.outbox.seal()
    records = staging.outbox.take_records()
    assert [(r.topic, r.partition, r.key) for r in records] == [
        (CHANGELOG, 3, b"run:r"),
        (CHANGELOG, 3, b"run:q"),
        (CHANGELOG, 3, b"source:a"),
    ]
    assert decode_run_state(records[0].value or b"") == RunState(4, finished=False, source="a", changed_ms=NOW_MS)
    assert decode_run_state(records[1].value or b"") == RunState(2, finished=False, source="a", changed_ms=NOW_MS)
    assert decode_source_position(records[2].value or b"") == SourcePosition(9, "id-a", "id-changelog")


def test_positions_come_after_every_run_state() -> None:
    """Whatever is staged, the positions are the last changelog records, and the own run's entry comes after them."""
    staging = Staging()
    staging.stage(at(2, 5), at(1, 6), at(1, 7, "q"))
    staging.outbox.seal()
    keys = [(r.topic, r.key) for r in staging.outbox.take_records() if r.topic in (CHANGELOG, RELAYS)]
    assert keys == [
        (CHANGELOG, b"run:r"),
        (CHANGELOG, b"run:q"),
        (CHANGELOG, b"source:a"),
        (RELAYS, b"ethogram-relay/i"),
    ]


def test_the_relays_entry_follows_the_own_run() -> None:
    """A transaction that touches the own run writes its entry; one that ends it writes a tombstone; else none."""
    staging = Staging()
    staging.stage(at(1, 5))
    staging.outbox.seal()
    assert RELAYS not in {r.topic for r in staging.outbox.take_records()}
    staging.outbox.committed({})
    staging.stage(at(9, 6))
    staging.outbox.seal()
    entry = staging.outbox.take_records()[-1]
    assert (entry.topic, entry.key) == (RELAYS, b"ethogram-relay/i")
    assert decode_relay_run(entry.value or b"") == RelayRun("ethogram-relay/i/1", 3, NOW_MS)
    staging.outbox.committed({})
    staging.outbox.stage_own(staging.own_run.close("completed", "stopped", NOW_MS))
    staging.outbox.seal()
    assert staging.outbox.take_records()[-1] == (RELAYS, None, b"ethogram-relay/i", -1, NOW_MS, None)


def test_a_commit_makes_what_was_staged_current() -> None:
    """After a commit run states, positions, the changelog's end and the own run are those that were staged."""
    staging = Staging()
    staging.stage(at(1, 5), at(9, 6))
    staging.outbox.take_forwards()
    staging.outbox.take_records()
    staging.outbox.seal()
    batch = staging.outbox.committed({3: 40})
    assert staging.partition.runs.get("r") == RunState(2, finished=False, source="a", changed_ms=NOW_MS)
    assert staging.partition.runs.staged == {}
    assert staging.partition.runs.held == {"r"}
    assert staging.partition.positions == {"a": 7}
    assert staging.partition.changelog_next == 40
    assert staging.own_run.current == RelayRun("ethogram-relay/i/1", 3, NOW_MS)
    assert (batch.forwarded, batch.refused) == ({"a": 1}, {("a", "gap"): 1})
    assert staging.outbox.batch.record_count == 0
    assert staging.outbox.next_offsets == {}


def test_a_drop_leaves_no_trace() -> None:
    """After a drop nothing was staged: no record, no state, no position, no count, and the own seq is given back."""
    staging = Staging()
    staging.stage(at(1, 5), at(9, 6))
    staging.outbox.seal()
    staging.outbox.dropped()
    assert staging.outbox.empty
    assert (staging.outbox.take_forwards(), staging.outbox.take_records()) == ([], [])
    assert staging.partition.runs.get("r") is None
    assert len(staging.partition.runs) == 0
    assert staging.partition.runs.held == set()
    assert staging.partition.positions == {}
    assert staging.own_run.staged == RelayRun("ethogram-relay/i/1", 2, NOW_MS)
    assert staging.outbox.batch.record_count == 0
    staging.stage(at(9, 6))
    assert parse_event(staging.outbox.take_records()[0].value or b"").seq == 2


def test_what_the_quarantine_cannot_take_stops_the_partition() -> None:
    """A refused record that the quarantine cannot keep is a fault of its partition, and nothing of it is staged."""
    staging = Staging(quarantine_record_bytes_max=300)
    big = record(noise(400), b"r", partition=3, offset=5)
    runs = staging.partition.runs
    with pytest.raises(PartitionFault) as caught:
        staging.outbox.stage(big, judge(big, runs, rules()), runs)
    assert caught.value.partition == 3
    assert caught.value.reason.startswith("offset 5 of a is refused, and ethogram-relay.quarantine must take ")
    assert staging.outbox.empty
    assert staging.outbox.batch.record_count == 0
    assert staging.own_run.staged == RelayRun("ethogram-relay/i/1", 2, NOW_MS)
    assert runs.held == set()


def test_what_the_unified_topic_cannot_be_told_stops_the_partition() -> None:
    """A refusal that the unified topic cannot take is a fault of its partition; the own run gets its number back."""
    staging = Staging(unified_record_bytes_max=200)
    torn = record(b"{", b"r", partition=3, offset=5)
    with pytest.raises(PartitionFault, match=r"u must take [0-9]+ bytes for that but takes 200"):
        staging.outbox.stage(torn, judge(torn, staging.partition.runs, rules()), staging.partition.runs)
    assert staging.outbox.empty
    assert staging.own_run.staged == staging.own_run.current


def test_a_long_key_is_kept_once() -> None:
    """A key over 4,096 bytes stands whole in the envelope, its digest outside: so the envelope is bounded."""
    staging = Staging()
    torn = record(b"{", b"k" * 5000, partition=3, offset=5)
    staging.outbox.stage(torn, judge(torn, staging.partition.runs, rules()), staging.partition.runs)
    kept = next(r for r in staging.outbox.take_records() if r.topic == QUARANTINE)
    assert kept.key == hashlib.sha256(b"k" * 5000).hexdigest().encode()
    held = decode_quarantined(kept.value or b"")
    assert held.record.key == b"k" * 5000
    assert held.source_run_id == "k" * 4096


def test_offsets_must_rise() -> None:
    """A record that came twice or out of order is an error at once, staged or committed before."""
    staging = Staging()
    staging.stage(at(1, 5))
    with pytest.raises(RuntimeError, match="offset 5 came after 6"):
        staging.outbox.stage_position(at(1, 5), staging.partition)
    staging.outbox.seal()
    staging.outbox.committed({})
    with pytest.raises(RuntimeError, match="offset 4 came after 6"):
        staging.outbox.stage_position(at(1, 4), staging.partition)
    staging.outbox.stage_position(at(1, 6), staging.partition)


def test_refusing_takes_an_open_own_run() -> None:
    """A refusal with no own run to publish it on is a mistake of ours, not a lost refusal."""
    staging = Staging()
    staging.own_run.adopt(None)
    with pytest.raises(RuntimeError, match="own run is not open"):
        staging.stage(at(2, 5))


def test_forgetting_writes_tombstones_and_keeps_the_fence() -> None:
    """Forgotten runs get tombstones; the transaction carries an unchanged offset, so that the group fences it."""
    staging = Staging()
    staging.partition.positions = {"a": 9}
    staging.partition.runs.load("old", RunState(5, finished=True, source="a"))
    staging.outbox.stage_forgotten(staging.partition, ["old"])
    assert not staging.outbox.empty
    assert staging.outbox.next_offsets == {TopicPartition("a", 3): 9}
    staging.outbox.seal()
    tombstone, position = staging.outbox.take_records()
    assert tombstone == (CHANGELOG, None, b"run:old", 3, NOW_MS, None)
    assert position.key == b"source:a"
    assert len(staging.partition.runs) == 1
    staging.outbox.committed({})
    assert len(staging.partition.runs) == 0
    assert staging.partition.positions == {"a": 9}


def test_forgetting_can_be_dropped() -> None:
    """A forgetting that is not committed forgets nothing."""
    staging = Staging()
    staging.partition.positions = {"a": 9}
    staging.partition.runs.load("old", RunState(5, finished=True, source="a"))
    staging.outbox.stage_forgotten(staging.partition, ["old"])
    staging.outbox.dropped()
    assert staging.partition.runs.get("old") is not None
    assert staging.outbox.empty


def test_nothing_is_forgotten_without_a_position() -> None:
    """A partition without any committed offset has nothing that a forgetting could be fenced by."""
    staging = Staging()
    staging.partition.positions = {"a": None}
    staging.outbox.stage_forgotten(staging.partition, ["old"])
    assert staging.outbox.empty


def test_a_run_that_is_mended_in_the_same_batch_waits_no_more() -> None:
    """A gap and the missing event that mends it, in one transaction, leave no run waiting."""
    staging = Staging()
    staging.stage(at(2, 5), at(1, 6))
    staging.outbox.committed({})
    assert staging.partition.runs.held == set()


@pytest.mark.parametrize(
    "refused",
    [
        at(2, 7),
        record(b"{", b"r", partition=3, offset=7),
        event_record("r", 3, topic="b", offset=7)._replace(partition=3),
    ],
)
def test_only_an_event_that_moves_a_run_ends_its_waiting(refused: SourceRecord) -> None:
    """A run that misses an event waits on, whatever else of it is refused."""
    staging = Staging()
    staging.partition.runs.load("r", RunState(3, finished=False, source="a"))
    staging.stage(at(4, 6))
    staging.outbox.committed({})
    assert staging.partition.runs.held == {"r"}
    staging.stage(refused)
    staging.outbox.committed({})
    assert staging.partition.runs.held == {"r"}
    staging.stage(at(3, 8))
    staging.outbox.committed({})
    assert staging.partition.runs.held == set()


def test_findings_are_counted() -> None:
    """An invalid event that a reporting source lets pass is counted by kind and forwarded."""
    staging = Staging()
    invalid = event_record(event_type="agent.warning", payload={"message": "m" * 4097})
    runs = staging.partition.runs
    staging.outbox.stage(invalid, judge(invalid, runs, rules(enforce=False)), runs)
    assert staging.outbox.take_forwards() == [invalid]
    assert staging.outbox.batch.findings == {("a", "OverBound"): 1}


def test_what_only_fits_compressed_is_kept_compressed() -> None:
    """A source may hold batches that are small because they are compressed: what it took, the quarantine takes, too."""
    staging = Staging(quarantine_record_bytes_max=1000)
    large = record(b"x" * 100_000, b"r", partition=3, offset=5)
    staging.outbox.stage(large, judge(large, staging.partition.runs, rules()), staging.partition.runs)
    kept = next(r for r in staging.outbox.take_records() if r.topic == QUARANTINE)
    assert len(kept.value or b"") < 1000
    assert decode_quarantined(kept.value or b"").record.value == large.value
