"""What one transaction did."""

from relay.telemetry.facts import Batch
from tests.unit.relay.samples import NOW_MS, event_bytes, event_record, record


def test_forwarded_records_are_counted_by_source() -> None:
    """Records and value bytes count for the source that they came from."""
    batch = Batch()
    batch.count_forwarded([event_record(), event_record(seq=2), event_record(topic="b"), event_record(seq=3)])
    size = len(event_bytes())
    assert batch.forwarded == {"a": 3, "b": 1}
    assert batch.forwarded_bytes == {"a": 3 * size, "b": size}
    assert batch.record_count == 4


def test_what_the_client_cannot_repeat_is_counted() -> None:
    """A CreateTime of 0 and a header name with a NUL are forwarded otherwise than they came, and counted."""
    batch = Batch()
    batch.count_forwarded(
        [
            event_record()._replace(timestamp_ms=0),
            event_record()._replace(headers=[("a\0b", b""), ("c\0", None)]),
            event_record()._replace(headers=[("plain", b"\0")]),
        ]
    )
    assert +batch.altered == {("a", "timestamp_zero"): 1, ("a", "header_name_nul"): 1}


def test_the_oldest_record_is_remembered_by_source() -> None:
    """The oldest timestamp of each source is kept, refused records counting."""
    batch = Batch()
    batch.count_forwarded([event_record()])
    batch.count_refused(record(b"{")._replace(timestamp_ms=5), "malformed")
    batch.count_refused(record(b"{")._replace(topic="b", timestamp_ms=NOW_MS), "malformed")
    assert batch.oldest_ms == {"a": 5, "b": NOW_MS}
    assert batch.refused == {("a", "malformed"): 1, ("b", "malformed"): 1}
    assert batch.record_count == 3
