"""Records, rules, configurations and a clock that several tests start from."""

import json
import random
from typing import Any

from relay.config import Config, parse_config
from relay.judge.judge import SourceRules
from relay.records import Header, SourceRecord

NOW_MS = 1_764_577_800_125
"""2025-12-01T08:30:00.125Z."""

VALID_CONFIG: dict[str, Any] = {
    "relay": {"unified_topic": "u", "instance_id": "i"},
    "sources": [{"topic": "a"}, {"topic": "b"}],
    "kafka": {"bootstrap.servers": "127.0.0.1:9092"},
}
"""The smallest configuration of two sources, as the YAML gives it."""


class StillClock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.epoch_ms = NOW_MS
        self.seconds = 100.0

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return self.epoch_ms

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self.seconds += seconds
        self.epoch_ms += round(seconds * 1000)


def config_of(**sections: Any) -> Config:  # noqa: ANN401 - a section as the YAML gives it
    """The valid configuration, its sections' keys changed or added; a list stands for the whole section."""
    tree = dict(VALID_CONFIG)
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section} if isinstance(section, dict) else section
    return parse_config(tree, {})


def event_bytes(
    run_id: str = "r",
    seq: int = 1,
    event_type: str = "x.seen",
    payload: Any = None,  # noqa: ANN401 - any JSON value
    **members: Any,  # noqa: ANN401 - any JSON value
) -> bytes:
    """The compact document of an event; `members` are added to its envelope or changed in it."""
    envelope = {"v": 1, "type": event_type, "runId": run_id, "seq": seq, "ts": "t", "payload": payload or {}} | members
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()


def record(
    value: bytes | None,
    key: bytes | None = b"r",
    *,
    topic: str = "a",
    partition: int = 0,
    offset: int = 7,
    headers: list[Header] | None = None,
) -> SourceRecord:
    """A source record."""
    return SourceRecord(topic, partition, offset, NOW_MS - 5, key, value, headers)


def event_record(
    run_id: str = "r",
    seq: int = 1,
    event_type: str = "x.seen",
    payload: Any = None,  # noqa: ANN401 - any JSON value
    *,
    topic: str = "a",
    offset: int = 7,
) -> SourceRecord:
    """A source record of an event, with the key that it must have."""
    return record(event_bytes(run_id, seq, event_type, payload), run_id.encode(), topic=topic, offset=offset)


def rules(
    source: str = "a",
    *,
    enforce: bool = True,
    advance: bool = False,
    record_bytes_max: int = 1_000_000,
    state_bytes_max: int = 1_000_000,
    murmur2: int = 0,
    own_run_prefix: str = "relay/",
) -> SourceRules:
    """How a source is judged: the defaults of the configuration."""
    sizes = (record_bytes_max, state_bytes_max)
    return SourceRules.of(source, own_run_prefix, *sizes, enforce=enforce, advance=advance, murmur2=murmur2)


def noise(bytes_count: int) -> bytes:
    """Bytes that are no event and do not compress."""
    return b"\xff" + random.Random(1).randbytes(bytes_count)
