"""What is said of what happened."""

import json

import pytest
import structlog
from structlog.testing import capture_logs

from relay.partitions import Partition, Phase
from relay.run_store import PartitionRuns
from relay.telemetry.facts import Batch
from relay.telemetry.listener import Telemetry
from relay.telemetry.logging import configure_logging, get_log
from relay.telemetry.metrics import Metrics
from tests.unit.relay.samples import StillClock, event_record, record
from tests.unit.relay.telemetry.test_metrics import of, scrape


def listener() -> tuple[Telemetry, Metrics]:
    """A listener and its metrics."""
    metrics = Metrics(["a"])
    return Telemetry(metrics, structlog.get_logger(), StillClock()), metrics


def test_refusals_are_one_line_by_source_and_cause() -> None:
    """A committed batch warns of its refusals, a line a cause and not a line a record, without content."""
    batch = Batch()
    batch.count_forwarded([event_record()])
    for cause in ("malformed", "gap", "malformed"):
        batch.count_refused(record(b'{"secret'), cause)
    with capture_logs() as lines:
        listener()[0].committed(batch, 0.0125)
    assert lines == [
        {"event": "records.refused", "log_level": "warning", "source": "a", "cause": "gap", "count": 1},
        {"event": "records.refused", "log_level": "warning", "source": "a", "cause": "malformed", "count": 2},
        {"event": "batch.committed", "log_level": "debug", "records": 4, "duration_ms": 12},
    ]


def test_a_batch_without_records_is_counted_and_not_told() -> None:
    """A transaction of the own run alone counts and is no line."""
    telemetry, metrics = listener()
    with capture_logs() as lines:
        telemetry.committed(Batch(), 0.1)
    assert lines == []
    assert of(scrape(metrics), "transactions_total", outcome="committed") == 1


def test_failures_are_counted_and_told() -> None:
    """A transaction that was not committed counts by outcome, and its reason is told, cut to a line."""
    telemetry, metrics = listener()
    with capture_logs() as lines:
        telemetry.not_committed("unknown", "x" * 600)
    assert lines == [{"event": "transaction.failed", "log_level": "warning", "outcome": "unknown", "reason": "x" * 500}]
    assert of(scrape(metrics), "transactions_total", outcome="unknown") == 1


def test_phases_are_told_once() -> None:
    """A partition's phase is told when it changes; a restore again is told with its duration, and measured."""
    telemetry, metrics = listener()
    partition = Partition(3, PartitionRuns(), None)
    with capture_logs() as lines:
        for phase, duration_s in (
            (Phase.INCOMPLETE, None),
            (Phase.INCOMPLETE, None),
            (Phase.RESTORING, None),
            (Phase.RUNNING, 1.5),
            (Phase.RUNNING, None),
            (Phase.HALTED, None),
        ):
            partition.phase, partition.halt_reason = phase, "why"
            telemetry.partition_changed(partition, duration_s)
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("partition.incomplete", "warning"),
        ("partition.restored", "info"),
        ("partition.halted", "error"),
    ]
    assert lines[1]["duration_ms"] == 1500
    assert lines[2]["reason"] == "why"
    assert of(scrape(metrics), "state_restore_duration_seconds") == 1.5


def test_lines_off_a_terminal_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is one JSON object with event, level and time, on standard error; lower levels are left out."""
    try:
        configure_logging("warning")
        get_log().info("not.told")
        get_log().warning("was.told", topic="ü", partition=3)
    finally:
        structlog.reset_defaults()
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    fields = json.loads(line)
    assert fields.pop("ts").endswith("Z")
    assert fields == {"event": "was.told", "level": "warning", "topic": "ü", "partition": 3}
