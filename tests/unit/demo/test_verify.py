"""The demonstration's numbers are computed: whatever is lost, changed or broken shows in them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ethogram import Event, EventDraft, InMemorySink, serialise_event
from relay.codec import Quarantined, encode_quarantined
from relay.demo.feed import Sent
from relay.demo.verify import Evidence, Report, verify
from relay.judge.verdict import Cause
from relay.records import Header, SourceRecord

OWN = "demo/relay-0/one"
OPENING = EventDraft("run.started", {"kind": "session", "actor": "a", "harness": "h"})
ENDING = EventDraft("run.finished", {"outcome": "completed", "durationMs": 1})


def source_record(offset: int, event: Event, headers: list[Header] | None = None) -> SourceRecord:
    """A record of the source topic."""
    return SourceRecord("s", 0, offset, 1_000 + offset, event.run_id.encode(), serialise_event(event), headers)


def evidence() -> Evidence:
    """Two events forwarded, a duplicate refused, the own run whole."""
    sink = InMemorySink(lambda: "2026-12-01T00:00:00.000Z")
    start, end = sink.append_draft("r", OPENING), sink.append_draft("r", ENDING)
    sources = [source_record(0, start, [("tag", None)]), source_record(1, start), source_record(2, end)]
    coordinates: list[Header] = [
        ("relay.source.topic", b"s"),
        ("relay.source.partition", b"0"),
        ("relay.source.offset", b"1"),
    ]
    refusal = EventDraft("capture.refused", {"cause": "duplicate", "sourceRunId": "r"})
    own = [
        SourceRecord("u", 0, 10 + n, 1, OWN.encode(), serialise_event(sink.append_draft(OWN, draft)), headers)
        for n, (draft, headers) in enumerate(((OPENING, None), (refusal, coordinates), (ENDING, None)))
    ]
    kept = encode_quarantined(Quarantined(sources[1], "duplicate", "r", OWN, 2, 1))
    return Evidence(
        sent=[Sent(record, Cause.DUPLICATE if record.offset == 1 else None, "twice") for record in sources],
        sources=sources,
        unified=[sources[0]._replace(topic="u"), sources[2]._replace(topic="u", offset=1), *own],
        quarantine=[SourceRecord("q", 0, 0, 1, b"r", kept, None)],
        own_run_prefix="demo/",
    )


def test_what_is_right_counts_as_right() -> None:
    """Consumed is forwarded and refused; nothing is lost, changed or broken."""
    report = verify(evidence())
    assert report.kept, report.broken
    assert report.last_line() == "demo: consumed 3, forwarded 2, refused 1, lost 0, changed 0"
    assert report.refusals == {("twice", "duplicate"): 1}


def _without_forwarded(given: Evidence) -> Evidence:
    return replace(given, unified=given.unified[1:])


def _without_quarantine(given: Evidence) -> Evidence:
    return replace(given, quarantine=[])


def _without_source(given: Evidence) -> Evidence:
    return replace(given, sources=given.sources[:2], unified=[given.unified[0], *given.unified[2:]])


@pytest.mark.parametrize("harm", [_without_forwarded, _without_quarantine, _without_source])
def test_what_is_nowhere_is_lost(harm: Callable[[Evidence], Evidence]) -> None:
    """A record that was forwarded nowhere, kept nowhere or never arrived in its source is lost."""
    report = verify(harm(evidence()))
    assert (report.lost, report.changed, report.kept) == (1, 0, False)


def _with_unified(**change: object) -> Callable[[Evidence], Evidence]:
    def harm(given: Evidence) -> Evidence:
        first: SourceRecord = given.unified[0]
        return replace(given, unified=[first._replace(**change), *given.unified[1:]])  # type: ignore[arg-type]  # any field

    return harm


def _forwarded_twice(given: Evidence) -> Evidence:
    return replace(given, unified=[given.unified[0], *given.unified])


def _quarantined_twice(given: Evidence) -> Evidence:
    return replace(given, quarantine=[*given.quarantine, *given.quarantine])


@pytest.mark.parametrize(
    "harm",
    [
        _with_unified(timestamp_ms=7),
        _with_unified(headers=[("tag", b"")]),
        _with_unified(headers=None),
        _with_unified(value=b"{}"),
        _with_unified(partition=1),
        _forwarded_twice,
        _quarantined_twice,
    ],
)
def test_what_differs_is_changed(harm: Callable[[Evidence], Evidence]) -> None:
    """A record whose stamp, headers, bytes or partition differ, or that is there twice, is changed."""
    report = verify(harm(evidence()))
    assert (report.lost, report.changed, report.kept) == (0, 1, False)


def test_the_wrong_order_is_a_change() -> None:
    """Within a run the order of the source holds."""
    given = evidence()
    unified = [given.unified[1], given.unified[0], *given.unified[2:]]
    report = verify(replace(given, unified=unified))
    assert (report.lost, report.changed) == (0, 2)


def _own_left_open(given: Evidence) -> Evidence:
    return replace(given, unified=given.unified[:-1])


def _own_with_a_hole(given: Evidence) -> Evidence:
    return replace(given, unified=[*given.unified[:2], *given.unified[3:]])


def _refused_for_another_cause(given: Evidence) -> Evidence:
    return replace(given, sent=[entry._replace(cause=None) for entry in given.sent])


def _refused_twice(given: Evidence) -> Evidence:
    return replace(given, unified=[*given.unified[:4], given.unified[3], given.unified[4]])


@pytest.mark.parametrize("harm", [_own_left_open, _own_with_a_hole, _refused_for_another_cause, _refused_twice])
def test_other_promises_are_held_to(harm: Callable[[Evidence], Evidence]) -> None:
    """A gap in the relay's own run, one left open, a verdict not foretold, or two refusals of one record are told."""
    report: Report = verify(harm(evidence()))
    assert report.broken
    assert not report.kept
