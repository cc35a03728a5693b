"""The judge against a small model of gapless runs, written apart from it."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethogram
from relay.judge.judge import judge
from relay.judge.run_state import RunState
from relay.records import SourceRecord
from tests.property.relay.feeds import SOURCES, Said, feeds, records_of
from tests.unit.relay.samples import rules


@dataclass
class Model:
    """Gapless runs, the slow and plain way: what was taken of each run so far, and by whom."""

    advance: bool
    owner: dict[str, str] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)

    def verdict(self, said: Said) -> str:
        """`forwarded`, or the cause of the refusal."""
        run_id = said.run_id
        if said.what in ("broken", "tombstone", "other_key") or run_id.startswith("ethogram-relay/"):
            return "malformed"
        if self.owner.get(run_id, said.source) != said.source:
            return "malformed"
        content = {"malformed_payload": "malformed", "refused_finish": "malformed", "over_bound": "over_bound"}
        expected = self.taken.get(run_id, 0) + 1
        cause = content.get(said.what)
        if cause is None:
            if run_id in self.closed:
                return "finished"
            if said.seq != expected:
                return "gap" if said.seq > expected else "duplicate"
        elif run_id in self.closed or said.seq != expected or not self.advance:
            return cause
        self.owner[run_id] = said.source
        self.taken[run_id] = expected
        if said.what == "finish":
            self.closed.add(run_id)
        return cause or "forwarded"


def judged(feed: list[Said], *, advance: bool) -> tuple[list[str], list[SourceRecord], dict[str, RunState]]:
    """The judge's verdicts, what it forwards, and the states it leaves, of one partition."""
    runs: dict[str, RunState] = {}
    how = {source: rules(source, advance=advance, own_run_prefix="ethogram-relay/") for source in SOURCES}
    verdicts, passed = [], []
    for record in records_of(feed):
        judgement = judge(record, runs, how[record.topic])
        if judgement.next_state is not None:
            runs[judgement.run_id] = judgement.next_state
        verdicts.append("forwarded" if judgement.refusal is None else judgement.refusal.cause.value)
        if judgement.refusal is None:
            passed.append(record)
    return verdicts, passed, runs


def of_one_partition(feed: list[Said]) -> list[Said]:
    """The part of a feed that meets in partition 0."""
    return [said for said in feed if said.partition == 0]


one_partition = feeds.map(of_one_partition)


@given(one_partition, st.booleans())
def test_the_judge_agrees_with_the_model(feed: list[Said], advance: bool) -> None:  # noqa: FBT001 - drawn
    """Every verdict is the model's, and so is the state that every run is left in."""
    model = Model(advance)
    verdicts, _passed, runs = judged(feed, advance=advance)
    assert verdicts == [model.verdict(said) for said in feed]
    assert {run_id: state.next_seq - 1 for run_id, state in runs.items()} == model.taken
    assert {run_id for run_id, state in runs.items() if state.finished} == model.closed
    assert {run_id: state.source for run_id, state in runs.items()} == model.owner


@given(one_partition)
def test_what_is_forwarded_in_hold_is_gapless(feed: list[Said]) -> None:
    """In hold, any reader's own proof holds: every run in the unified topic goes 1, 2, 3, … and ends at its finish."""
    _verdicts, passed, _runs = judged(feed, advance=False)
    events = [ethogram.parse_event(record.value or b"") for record in passed]
    counts = ethogram.prove_gapless(events)
    assert sum(counts.values()) == len(events)
    finished: set[str] = set()
    for event in events:
        assert event.run_id not in finished
        if event.type == "run.finished":
            finished.add(event.run_id)


@given(one_partition)
def test_every_hole_in_advance_is_explained(feed: list[Said]) -> None:
    """In advance, a number that is missing between forwarded events of a run was refused, with that run and seq."""
    verdicts, passed, _runs = judged(feed, advance=True)
    refused = {(said.run_id, said.seq) for said, verdict in zip(feed, verdicts, strict=True) if verdict != "forwarded"}
    last: dict[str, int] = {}
    for record in passed:
        event = ethogram.parse_event(record.value or b"")
        for missing in range(last.get(event.run_id, 0) + 1, event.seq):
            assert (event.run_id, missing) in refused
        assert event.seq > last.get(event.run_id, 0)
        last[event.run_id] = event.seq


def test_the_model_is_not_the_judge() -> None:
    """The model sees a gap, a duplicate and an end by itself."""
    model = Model(advance=False)
    said = Said("a", 0, "r", 1, "seen")
    assert [model.verdict(said._replace(seq=seq)) for seq in (2, 1, 1, 3)] == ["gap", "forwarded", "duplicate", "gap"]
    assert model.verdict(said._replace(seq=2, what="finish")) == "forwarded"
    assert model.verdict(said._replace(seq=3)) == "finished"
    with pytest.raises(ethogram.EthogramError):
        ethogram.parse_event(b"")
