"""The records that are copied and relayed: agent events of a stated size, over three sources and many runs."""

import random
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Producer

from tests.support.records import create_topics

SOURCES: Final = ("bench.a", "bench.b", "bench.c")
PARTITIONS: Final = 4
_EVENTS_A_RUN: Final = 100
_OPEN_AT_ONCE: Final = 300


@dataclass(frozen=True)
class Workload:
    """What is in the sources.

    Attributes:
        bootstrap_servers: The broker.
        record_count: Records over all sources.
        value_bytes: The mean size of a value.
    """

    bootstrap_servers: str
    record_count: int
    value_bytes: float


def load(bootstrap_servers: str, record_count: int, value_bytes: int, seed: int) -> Workload:
    """Fill the source topics.

    Args:
        bootstrap_servers: The broker.
        record_count: How many records.
        value_bytes: How large a value is, about.
        seed: Decides which run each record is of.
    """
    create_topics(bootstrap_servers, {source: {"partitions": PARTITIONS} for source in SOURCES})
    producer = Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "linger.ms": 20,
            "enable.idempotence": True,  # else a retry at the start reorders runs, and the relay refuses them
            "partitioner": "murmur2_random",
            "queue.buffering.max.messages": 2_000_000,
        }
    )
    total = 0
    for number, (source, value, run_id) in enumerate(_events(record_count, value_bytes, random.Random(seed))):
        producer.produce(source, value, run_id)
        total += len(value)
        if number % 1000 == 0:
            producer.poll(0)
    producer.flush(120)
    return Workload(bootstrap_servers, record_count, total / record_count)


def _events(record_count: int, value_bytes: int, chance: random.Random) -> Iterator[tuple[str, bytes, bytes]]:
    """Interleaved runs: started, a hundred tool events, finished."""
    filling = "x" * max(0, value_bytes - 270)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    runs: list[tuple[str, bytes, int]] = []
    for _ in range(record_count):
        if len(runs) < _OPEN_AT_ONCE:
            runs.append((chance.choice(SOURCES), str(uuid.UUID(int=chance.getrandbits(128))).encode(), 0))
        place = chance.randrange(len(runs))
        source, run_id, seq = runs[place]
        runs[place] = (source, run_id, seq + 1)
        if seq == _EVENTS_A_RUN:
            runs.pop(place)
        yield source, _value(run_id.decode(), seq + 1, stamp, filling), run_id


def _value(run_id: str, seq: int, stamp: str, filling: str) -> bytes:
    if seq == 1:
        event_type, payload = "run.started", '{"actor":"bench","harness":"bench","kind":"session"}'
    elif seq == _EVENTS_A_RUN + 1:
        event_type, payload = "run.finished", '{"durationMs":1000,"outcome":"completed"}'
    else:
        event_type = "agent.tool_use"
        payload = f'{{"inputExcerpt":"{filling}","stage":"build","tool":"Bash","toolUseId":"toolu_{seq:08d}"}}'
    head = f'{{"v":1,"type":"{event_type}","runId":"{run_id}","seq":{seq},"ts":"{stamp}",'
    return f'{head}"payload":{payload},"capturedAt":"{stamp}"}}'.encode()
