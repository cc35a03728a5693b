"""What the relay can emit on its own run: a real relay on a real broker, stopped, killed and started again."""

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import confluent_kafka

from deploy.kafka.kafka_local import cluster
from deploy.kafka.kafka_local.settings import Profile
from ethogram import Event, parse_event
from relay import __version__
from tests.support.records import NewRecord, create_topics, produce_all, read_all
from tests.support.relay_process import RelayProcess, write_config
from tools.capture.corpus import Capture, CaptureFault
from tools.capture.refused import GARDEN, MEADOW, ORCHARD, UNIFIED_BYTES_MAX, records

NAME: Final = "ethogram-relay"
INSTANCE: Final = "relay-0"
UNIFIED: Final = "ethogram.unified"
PARTITIONS: Final = 2
_WAIT_S: Final = 60.0
_QUARANTINE_BYTES_MAX: Final = 1_048_588 + 65_536
_COMMAND: Final = ("ethogram-relay", "run", "--config", "relay.yaml")


def capture(folder: Path, kafka_version: str) -> tuple[list[Capture], list[bytes]]:
    """Run a relay through all it can say of itself.

    Args:
        folder: an empty folder for its files.
        kafka_version: of the broker that is started.

    Returns:
        The captures, and every event of the relay's runs.

    Raises:
        CaptureFault: something that was declared did not come.
    """
    with cluster.running(profile=Profile.TEST) as state:
        emitted = _drive(folder, state.bootstrap_servers)
    versions = {
        "ethogram-relay": __version__,
        "python": platform.python_version(),
        "confluent-kafka": str(confluent_kafka.version()),
        "librdkafka": str(confluent_kafka.libversion()[0]),
        "kafka": kafka_version,
    }
    events = [parse_event(wire) for wire in emitted]
    refusals = _refusals(events, emitted)
    captures = [
        Capture(
            "relay-refusals",
            "relay",
            _COMMAND,
            "Three sources hold records that may not be forwarded.",
            versions,
            refusals,
        ),
        *(
            Capture(f"relay-{name}", "relay", _COMMAND, how, versions, {variant: _one(events, emitted, fits)})
            for name, variant, how, fits in _LIFE
        ),
    ]
    return captures, emitted


def _is_end(reason: str) -> Callable[[Event], bool]:
    return lambda event: event.type == "run.finished" and event.payload.get("reason") == reason


_LIFE: Final[tuple[tuple[str, str, str, Callable[[Event], bool]], ...]] = (
    ("started", "run.started/relay", "A relay is started.", lambda event: event.type == "run.started"),
    ("stopped", "run.finished/relay-stopped", "A relay gets a SIGTERM.", _is_end("stopped")),
    (
        "left-open",
        "run.finished/relay-left-open",
        "A relay is killed, and started again under the same identity.",
        _is_end("the process ended without closing its run"),
    ),
    ("rotated", "run.finished/relay-rotated", "A relay's run reaches own_run_max_age.", _is_end("rotated by age")),
)


def _one(events: list[Event], emitted: list[bytes], fits: Callable[[Event], bool]) -> bytes:
    for event, wire in zip(events, emitted, strict=True):
        if fits(event):
            return wire
    raise CaptureFault("expected an event of the relay's life, got none")


def _drive(folder: Path, bootstrap: str) -> list[bytes]:
    """Refuse everything, be killed, start again, grow old, be stopped."""
    compact = {"cleanup.policy": "compact"}
    sources = {topic: {"partitions": PARTITIONS} for topic in (GARDEN, ORCHARD, MEADOW)}
    own: dict[str, dict[str, Any]] = {
        UNIFIED: {"partitions": PARTITIONS, "config": {"max.message.bytes": str(UNIFIED_BYTES_MAX)}},
        f"{NAME}.changelog": {"partitions": PARTITIONS, "config": compact},
        f"{NAME}.relays": {"config": compact},
        f"{NAME}.quarantine": {"partitions": PARTITIONS, "config": {"max.message.bytes": str(_QUARANTINE_BYTES_MAX)}},
    }
    create_topics(bootstrap, {**sources, **own})
    sent = records(f"{NAME}/")
    wanted = sum(bool(one.variant) for one in sent) - 1  # One of the two of the other partition is right.
    with RelayProcess(write_config(folder / "relay.yaml", _config(bootstrap, "24h"))) as relay:
        relay.wait_ready()
        for one in sent:  # One by one, so that they are judged in this order across topics.
            record = NewRecord(one.value, one.key, partition=one.partition)
            produce_all(bootstrap, one.topic, [record], {"message.max.bytes": 1_000_000})
            time.sleep(0.2)
        _wait(lambda: len(_of_type(bootstrap, "capture.refused")) >= wanted, f"{wanted} refusals")
        relay.kill()
    with RelayProcess(write_config(folder / "again.yaml", _config(bootstrap, "2s"))) as relay:
        relay.wait_ready()
        _wait(lambda: len(_of_type(bootstrap, "run.finished")) >= 2, "a run rotated by age")  # noqa: PLR2004 - one left open, one rotated
        if relay.terminate() != 0:
            raise CaptureFault(f"expected a clean stop of the relay, got another\n{relay.log_tail()}")
    return _own_events(bootstrap)


def _config(bootstrap: str, own_run_max_age: str) -> dict[str, Any]:
    return {
        "relay": {
            "name": NAME,
            "unified_topic": UNIFIED,
            "instance_id": INSTANCE,
            "commit_interval_ms": 50,
            "own_run_max_age": own_run_max_age,
        },
        "sources": [{"topic": GARDEN}, {"topic": ORCHARD}, {"topic": MEADOW, "partitioner": "murmur2"}],
        "kafka": {"bootstrap.servers": bootstrap, "session.timeout.ms": 6000, "heartbeat.interval.ms": 500},
    }


def _own_events(bootstrap: str) -> list[bytes]:
    own = [one for one in read_all(bootstrap, UNIFIED, end="last_stable") if (one.key or b"").startswith(NAME.encode())]
    return [one.value for one in own if one.value is not None]


def _of_type(bootstrap: str, event_type: str) -> list[bytes]:
    return [wire for wire in _own_events(bootstrap) if parse_event(wire).type == event_type]


def _wait(condition: Callable[[], bool], wanted: str) -> None:
    deadline_s = time.monotonic() + _WAIT_S
    while not condition():
        if time.monotonic() > deadline_s:
            raise CaptureFault(f"expected {wanted} in {_WAIT_S:g} s")
        time.sleep(0.2)


def _refusals(events: list[Event], emitted: list[bytes]) -> dict[str, bytes]:
    """Name each refusal after the record that provoked it: they were sent one by one, and refused in that order."""
    refused = [wire for event, wire in zip(events, emitted, strict=True) if event.type == "capture.refused"]
    names = list(dict.fromkeys(one.variant for one in records(f"{NAME}/") if one.variant))
    if len(refused) != len(names):
        raise CaptureFault(f"expected {len(names)} refusals, got {len(refused)}")
    return dict(zip(names, refused, strict=True))
