"""Records to produce, what is known of each beforehand, and a small model of what must become of it.

The model is written from the protocol and the relay's stated rulings alone. It must never call `relay.judge`: it is
there to disagree with it.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.records import Headers

TS = "2026-01-02T03:04:05.678Z"


@dataclass(frozen=True)
class SourcePlan:
    """A source topic and how the relay is told to judge it, as in the configuration file."""

    topic: str
    validation: Literal["enforce", "report"] = "enforce"
    after_refusal: Literal["hold", "advance"] = "hold"


@dataclass(frozen=True)
class Fault:
    """What is wrong with a record by itself, whatever its run has reached.

    Attributes:
        stage: `envelope` comes before the run's owner is asked for, `content` after it, `size` after the sequence.
        cause: The refusal's cause.
        fields: What `capture.refused` must say of it; `None` for a field that must be absent.
        finding: For what only `validate` finds, the kind that a reporting source counts instead of refusing.
    """

    stage: Literal["envelope", "content", "size"]
    cause: Literal["malformed", "over_bound"]
    fields: Mapping[str, object] = field(default_factory=dict)
    finding: str = ""


@dataclass(frozen=True)
class Planned:
    """A record to produce, with what is known of it.

    Attributes:
        run_id: The run it is attributed to; None for one that only its coordinates name.
        seq: Its `seq`, None where the envelope does not tell.
        type: Its type, None where the envelope does not tell.
        partition: Where it goes; None for a hash of the key that is not the Java client's.
    """

    value: bytes | None
    key: bytes | None
    run_id: str | None
    seq: int | None = None
    type: str | None = None
    fault: Fault | None = None
    headers: Headers = ()
    partition: int | None = None

    def partition_of(self, partitions: int) -> int:
        """The partition it goes to."""
        if self.partition is not None:
            return self.partition
        return zlib.crc32(self.key or self.value or b"") % partitions


def event_bytes(run_id: str, seq: object, event_type: str, payload: object, **envelope: object) -> bytes:
    """Write an event as a producer would, in compact JSON, with members over those of the envelope."""
    event = {"v": 1, "type": event_type, "runId": run_id, "seq": seq, "ts": TS, "payload": payload, **envelope}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


def event(
    run_id: str,
    seq: int,
    event_type: str = "agent.text",
    payload: Mapping[str, Any] | None = None,
    *,
    fault: Fault | None = None,
    headers: Headers = (),
    partition: int | None = None,
) -> Planned:
    """Plan one event with a readable envelope; without a payload it is a right `agent.text`."""
    body = {"text": f"event {seq} of {run_id[:40]}"} if payload is None else payload
    value = event_bytes(run_id, seq, event_type, body)
    return Planned(value, run_id.encode(), run_id, seq, event_type, fault, headers, partition)


def started(run_id: str, seq: int = 1, partition: int | None = None) -> Planned:
    """Plan a right `run.started`."""
    payload = {"kind": "session", "actor": "tests", "harness": "tests"}
    return event(run_id, seq, "run.started", payload, partition=partition)


def finished(run_id: str, seq: int, partition: int | None = None) -> Planned:
    """Plan a right `run.finished`."""
    return event(run_id, seq, "run.finished", {"outcome": "completed", "durationMs": 5}, partition=partition)


def whole_run(run_id: str, length: int, partition: int | None = None) -> list[Planned]:
    """Plan a right run from its start to its finish, of at least two events."""
    middle = [event(run_id, seq, partition=partition) for seq in range(2, length)]
    return [started(run_id, partition=partition), *middle, finished(run_id, length, partition)]


@dataclass
class Cursor:
    """What one run has reached."""

    next_seq: int
    finished: bool
    owner: str


class Model:
    """Says what must become of each record, in the order in which they are judged."""

    def __init__(self, sources: Mapping[str, SourcePlan]) -> None:
        """Begin with no run known."""
        self._sources = sources
        self.runs: dict[tuple[int, str], Cursor] = {}
        """By partition number and run id."""

    def cause(self, topic: str, partition: int, planned: Planned) -> str | None:
        """Judge the next record of a topic-partition.

        Returns:
            The cause of its refusal, None if it must be forwarded.
        """
        fault = planned.fault
        if fault is not None and fault.stage == "envelope":
            return fault.cause
        if planned.run_id is None or planned.seq is None:
            raise AssertionError("a record without a readable envelope is planned with a fault of it")
        run = self.runs.get((partition, planned.run_id))
        if run is not None and run.owner != topic:
            return "malformed"
        cause = self._cause_in_run(topic, run, planned.seq, fault)
        expected = run.next_seq if run is not None else 1
        consumes = planned.seq == expected and not (run is not None and run.finished)
        if cause is None or (consumes and self._sources[topic].after_refusal == "advance"):
            closes = cause is None and planned.type == "run.finished"
            self.runs[partition, planned.run_id] = Cursor(expected + 1, closes, topic)
        return cause

    def finding(self, topic: str, planned: Planned) -> str:
        """The kind of finding that a reporting source counts for a forwarded record, empty for none."""
        reports = self._sources[topic].validation == "report"
        return planned.fault.finding if reports and planned.fault is not None else ""

    def _cause_in_run(self, topic: str, run: Cursor | None, seq: int, fault: Fault | None) -> str | None:
        reports = self._sources[topic].validation == "report"
        if fault is not None and fault.stage == "content" and not (fault.finding and reports):
            return fault.cause
        if run is not None and run.finished:
            return "finished"
        expected = run.next_seq if run is not None else 1
        if seq != expected:
            return "gap" if seq > expected else "duplicate"
        return fault.cause if fault is not None and fault.stage == "size" else None
