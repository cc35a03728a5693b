"""The metric table and what is exposed of it."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from relay import __version__
from relay.judge.verdict import Cause
from relay.telemetry.facts import Batch
from relay.telemetry.metrics import METRICS, Kind, Metrics
from tests.unit.relay.samples import NOW_MS, event_record, record

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]

CONTRACT = {
    "records_consumed_total": {"source"},
    "records_forwarded_total": {"source"},
    "records_refused_total": {"source", "cause"},
    "bytes_forwarded_total": {"source"},
    "validation_findings_total": {"source", "kind"},
    "transactions_total": {"outcome"},
    "transaction_duration_seconds": set(),
    "end_to_end_latency_seconds": {"source"},
    "source_lag_records": {"source", "partition"},
    "oldest_unforwarded_age_seconds": {"source"},
    "open_runs": set(),
    "held_runs": set(),
    "state_restore_duration_seconds": set(),
    "state_runs": set(),
    "last_commit_timestamp_seconds": set(),
    "build_info": {"version"},
}
"""The metrics that are promised, with their labels."""


def scrape(metrics: Metrics) -> Samples:
    """Every sample of a scrape, by name and labels."""
    body, _content_type = metrics.expose("")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def of(samples: Samples, name: str, **labels: str) -> float:
    """One sample."""
    return samples[f"ethogram_relay_{name}", tuple(sorted(labels.items()))]


def batch_of(forwarded: int = 0, refused: int = 0) -> Batch:
    """A batch of source `a`."""
    batch = Batch()
    batch.count_forwarded([event_record(seq=seq) for seq in range(1, forwarded + 1)])
    for _record in range(refused):
        batch.count_refused(record(b"{"), "malformed")
    return batch


def test_the_table_holds_what_is_promised() -> None:
    """Each promised metric is a row with exactly its labels."""
    rows = {row.name + ("_total" if row.kind is Kind.COUNTER else ""): set(row.labels) for row in METRICS}
    assert {name: rows.get(name) for name in CONTRACT} == CONTRACT


def test_every_row_is_registered_under_the_prefix() -> None:
    """What is exposed is the table, each name behind the prefix and with its meaning, and nothing else."""
    metrics = Metrics(["a"])
    body, _content_type = metrics.expose("")
    exposed = {
        family.name: family.documentation
        for family in text_string_to_metric_families(body.decode())
        if not family.name.endswith("_created")
    }
    assert exposed == {f"ethogram_relay_{row.name}": row.meaning for row in METRICS}
    assert all(metrics[row.name] is not None for row in METRICS)


def test_no_label_names_a_run() -> None:
    """Labels are bounded: a run, a key or an offset is never one."""
    labels = {label for row in METRICS for label in row.labels}
    assert labels == {"source", "cause", "kind", "what", "outcome", "partition", "phase", "version"}


def test_histograms_have_rising_buckets() -> None:
    """A histogram states its buckets, in rising order; nothing else has any."""
    for row in METRICS:
        assert bool(row.buckets) is (row.kind is Kind.HISTOGRAM)
        assert list(row.buckets) == sorted(set(row.buckets))


def test_series_start_at_zero() -> None:
    """Every source, every cause and every outcome is there before anything happened."""
    samples = scrape(Metrics(["a", "b"]))
    for source in ("a", "b"):
        for name in ("records_consumed_total", "records_forwarded_total", "bytes_forwarded_total"):
            assert of(samples, name, source=source) == 0
        for cause in ("malformed", "over_bound", "finished", "duplicate", "gap"):
            assert of(samples, "records_refused_total", source=source, cause=cause) == 0
    for outcome in ("committed", "aborted", "unknown"):
        assert of(samples, "transactions_total", outcome=outcome) == 0
    assert of(samples, "build_info", version=__version__) == 1
    assert [cause.value for cause in Cause] == ["malformed", "over_bound", "finished", "duplicate", "gap"]


def test_a_commit_is_counted_whole() -> None:
    """A committed batch counts its records, bytes, findings and times, once."""
    metrics = Metrics(["a"])
    batch = batch_of(forwarded=2, refused=1)
    batch.count_finding("a", "OverBound")
    batch.altered["a", "timestamp_zero"] += 1
    metrics.batch_committed(batch, duration_s=0.03, now_ms=NOW_MS)
    samples = scrape(metrics)
    assert of(samples, "records_consumed_total", source="a") == 3
    assert of(samples, "records_forwarded_total", source="a") == 2
    assert of(samples, "records_refused_total", source="a", cause="malformed") == 1
    assert of(samples, "bytes_forwarded_total", source="a") == 2 * len(event_record().value or b"")
    assert of(samples, "validation_findings_total", source="a", kind="OverBound") == 1
    assert of(samples, "records_altered_total", source="a", what="timestamp_zero") == 1
    assert of(samples, "transactions_total", outcome="committed") == 1
    assert of(samples, "transaction_duration_seconds_sum") == pytest.approx(0.03)
    assert of(samples, "end_to_end_latency_seconds_sum", source="a") == pytest.approx(0.005)
    assert of(samples, "last_commit_timestamp_seconds") == NOW_MS / 1000


def test_a_record_from_the_future_has_no_latency() -> None:
    """A timestamp ahead of the relay's clock counts as no latency, not as a negative one."""
    metrics = Metrics(["a"])
    metrics.batch_committed(batch_of(forwarded=1), duration_s=0.0, now_ms=NOW_MS - 60_000)
    assert of(scrape(metrics), "end_to_end_latency_seconds_sum", source="a") == 0


def test_consumed_is_forwarded_and_refused_at_every_scrape() -> None:
    """Conservation: whatever is committed or not, consumed = forwarded + refused whenever one looks."""
    metrics = Metrics(["a"])
    for forwarded, refused in ((3, 0), (0, 2), (5, 7)):
        metrics.batch_committed(batch_of(forwarded, refused), duration_s=0.1, now_ms=NOW_MS)
        metrics.transaction_ended("aborted")
        samples = scrape(metrics)
        refusals = sum(of(samples, "records_refused_total", source="a", cause=cause.value) for cause in Cause)
        assert of(samples, "records_consumed_total", source="a") == (
            of(samples, "records_forwarded_total", source="a") + refusals
        )
    samples = scrape(metrics)
    assert of(samples, "transactions_total", outcome="aborted") == 3
    assert of(samples, "records_consumed_total", source="a") == 17


def test_labelled_gauges_are_replaced() -> None:
    """A series that is no longer given disappears, so that nothing is said of what is no longer here."""
    metrics = Metrics(["a"])
    before: dict[tuple[str, ...], float] = {("a", "0"): 5.0, ("a", "1"): 7.0}
    after: dict[tuple[str, ...], float] = {("a", "1"): 6.0}
    metrics.set_labelled("source_lag_records", before)
    metrics.set_labelled("source_lag_records", after)
    metrics.set_gauges({"open_runs": 4})
    samples = scrape(metrics)
    assert of(samples, "source_lag_records", source="a", partition="1") == 6
    assert ("ethogram_relay_source_lag_records", (("partition", "0"), ("source", "a"))) not in samples
    assert of(samples, "open_runs") == 4


def test_open_metrics_is_negotiated() -> None:
    """A scraper that asks for OpenMetrics gets it; any other gets the text format."""
    metrics = Metrics(["a"])
    body, content_type = metrics.expose("application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")
    body, content_type = metrics.expose("*/*")
    assert content_type.startswith("text/plain")
    assert b"# EOF" not in body
