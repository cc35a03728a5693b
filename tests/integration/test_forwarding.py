"""What is right arrives: once, byte for byte, in order, from several sources and many runs at a time."""

import json
import os
import random
from collections import defaultdict
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.support.formats import murmur2_partition
from tests.support.kafka import KafkaBroker
from tests.support.plan import Planned, SourcePlan, event, finished, started, whole_run
from tests.support.records import Headers
from tests.support.rig import Rig

DATA_ENV_NAME = "ETHOGRAM_TEST_DATA"
THREE_SOURCES = (SourcePlan("a"), SourcePlan("b"), SourcePlan("c"))
RUNS_MANY = 1_000
CALL_TIMEOUT_S = 30.0

HEADERS: tuple[Headers, ...] = (
    (),
    (("trace", b"00-4bf92f-01"),),
    (("h", b"1"), ("h", b"2"), ("g", None), ("h", b"1"), ("e", b"")),
    (("größe", "é".encode()), ("raw", bytes(range(256)))),
    (("", b"an empty name"),),
)
"""None, one, repeats in an order, null and empty values, names and values beyond ASCII."""


def interleave(rng: random.Random, runs: list[list[Planned]]) -> list[Planned]:
    """Mix runs into one series at random, each in its own order."""
    order = [index for index, run in enumerate(runs) for _ in run]
    rng.shuffle(order)
    waiting = [iter(run) for run in runs]
    return [next(waiting[index]) for index in order]


def captured_runs(folder: Path) -> list[list[Planned]]:
    """Read every captured run."""
    runs: dict[str, list[Planned]] = defaultdict(list)
    for path in sorted(folder.glob("captures/*/*/events.jsonl")):
        for line in path.read_bytes().splitlines():
            envelope = json.loads(line)
            run_id, seq = envelope["runId"], envelope["seq"]
            runs[run_id].append(Planned(line, run_id.encode(), run_id, seq, envelope["type"]))
    return list(runs.values())


def generated_run(rng: random.Random, run_id: str) -> list[Planned]:
    """Draw a right run: families, unknown types and fields, texts at their bounds, odd spellings, headers on some."""
    payloads = [
        ("agent.text", {"text": "😀" * rng.choice([1, 100, 16_384])}),
        ("agent.tool_use", {"tool": "bash", "inputExcerpt": "x" * 4_096, "truncated": False}),
        ("agent.tool_result", {"tool": "bash", "unknownField": {"kept": [1.50, -0.0, None]}}),
        ("agent.completed", {"turns": 3, "costUsd": 0.25}),
        ("control.requested", {"controlId": "c", "kind": "interrupt", "by": "operator"}),
        ("of.another_protocol", [None, {"deep": {"deeper": ["\u2028", "\\"]}}]),
    ]
    middle = [
        event(run_id, seq, kind, payload, headers=rng.choice(HEADERS))  # type: ignore[arg-type] # a list is a payload too
        for seq, (kind, payload) in enumerate(rng.choices(payloads, k=rng.randint(0, 12)), start=2)
    ]
    run = [started(run_id), *middle, finished(run_id, len(middle) + 2)]
    # Whatever a producer's spelling is, it is forwarded as it is: blanks, escapes, order of members.
    spelled = json.dumps(json.loads(run[0].value or b"{}"), indent=1, sort_keys=True).encode()
    return [Planned(spelled, run[0].key, run_id, 1, run[0].type), *run[1:]]


def test_captured_runs_arrive_once_and_whole(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """Every event of every capture, from three sources, is forwarded once, byte for byte, in its run's order."""
    folder = os.environ.get(DATA_ENV_NAME)
    if not folder:
        pytest.skip(f"{DATA_ENV_NAME} is not set: it names the folder that holds captures/")
    runs = captured_runs(Path(folder))
    assert runs, f"{DATA_ENV_NAME}: expected captures/*/*/events.jsonl under {folder}"
    rig = Rig(kafka, topic_prefix, tmp_path, THREE_SOURCES, partitions=3)
    rig.create_topics()
    for source in range(3):
        rig.produce(source, interleave(rng, runs[source::3]))

    with rig.relay() as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        metrics = relay.metrics()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.forwarded.total() == sum(map(len, runs))
    assert not tally.refused
    rig.ledger.prove_metrics(tally, metrics)


def test_generated_runs_arrive_once_and_whole(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """Runs of every spelling, with headers of every kind, arrive unchanged; the partition number is kept."""
    rig = Rig(kafka, topic_prefix, tmp_path, THREE_SOURCES, partitions=3)
    rig.create_topics()
    runs = [[generated_run(rng, f"generated-{source}-{number}") for number in range(20)] for source in range(3)]
    halves: list[tuple[list[Planned], list[Planned]]] = []
    for ofsource in runs:
        mixed = interleave(rng, ofsource)
        halves.append((mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]))

    with rig.relay() as relay:
        for source, (first, _second) in enumerate(halves):
            rig.produce(source, first)
        relay.wait_ready()
        for source, (_first, second) in enumerate(halves):
            rig.produce(source, second)
        rig.ledger.wait_judged()
        metrics = relay.metrics()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.forwarded.total() == sum(len(run) for ofsource in runs for run in ofsource)
    assert not tally.refused
    rig.ledger.prove_metrics(tally, metrics)


def test_thousand_interleaved_runs(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random) -> None:
    """A thousand runs at a time, mixed event by event over three sources, are each gapless on the unified topic."""
    rig = Rig(kafka, topic_prefix, tmp_path, THREE_SOURCES, partitions=4)
    rig.create_topics()
    runs = [whole_run(f"run-{number}", rng.randint(2, 12)) for number in range(RUNS_MANY)]
    for source in range(3):
        rig.produce(source, interleave(rng, runs[source::3]))

    with rig.relay() as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        metrics = relay.metrics()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.forwarded.total() == sum(map(len, runs))
    rig.ledger.prove_metrics(tally, metrics)


@pytest.mark.parametrize("unified_partitions", [1, 5])
def test_another_partition_count_hashes_as_java_does(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random, unified_partitions: int
) -> None:
    """Where the unified topic has another partition count, keys spread over it by murmur2, as the Java client's do."""
    assert [murmur2_partition(key, 1 << 31) for key in (b"21", b"foobar", b"abc")] == [
        -973932308 & 0x7FFFFFFF,
        -790332482 & 0x7FFFFFFF,
        479470107,
    ], "the test's own murmur2 must give what Apache Kafka's tests state"
    rig = Rig(kafka, topic_prefix, tmp_path, THREE_SOURCES[:2], partitions=3, unified_partitions=unified_partitions)
    rig.create_topics()
    runs = [whole_run(f"{'k' * (number % 9)}{number}é", 5) for number in range(60)]
    for source in range(2):
        rig.produce(source, interleave(rng, runs[source::2]))

    with rig.relay() as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    assert rig.ledger.prove().forwarded.total() == 60 * 5


def test_only_committed_records_of_a_source_are_judged(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Aborted records of a transactional producer are never forwarded; offsets pass over them and over markers."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    client = {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": f"{rig.name}.producer", "log_level": 0}
    producer = Producer(client)
    producer.init_transactions(CALL_TIMEOUT_S)

    def produce_aborted() -> None:
        producer.begin_transaction()
        for partition in (0, 1):
            planned = event("r0", 2, partition=partition)
            producer.produce(rig.topics[0], planned.value, planned.key, partition)
        assert producer.flush(CALL_TIMEOUT_S) == 0
        producer.abort_transaction(CALL_TIMEOUT_S)

    with rig.relay() as relay:
        relay.wait_ready()
        rig.produce(0, [started("r0", partition=0), started("r1", partition=1)])
        produce_aborted()
        rig.produce(0, [event("r0", 2, partition=0), event("r1", 2, partition=1)])
        produce_aborted()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
        relay.start()
        relay.wait_ready()
        produce_aborted()
        rig.produce(0, [finished("r0", 3, 0), finished("r1", 3, 1)])
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.forwarded.total() == 6
    assert not tally.refused
