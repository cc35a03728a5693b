"""Any cut of the input into batches, and any placing of aborts and doubtful outcomes, gives the same events."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relay.errors import OutcomeUnknown, RelayError, TransactionAborted
from relay.judge.run_state import RunState
from tests.property.relay.feeds import RUN_IDS, SOURCES, Said, feeds, records_of
from tests.unit.relay.doubles import Rig
from tests.unit.relay.samples import rules

endings = st.lists(
    st.sampled_from(["commit", "commit", "go on", "abort", "doubt, held", "doubt, not held", "revoke", "lose"]),
    max_size=25,
)
"""What becomes of each turn of the loop."""


def rig_of(feed: list[Said], *, advance: bool) -> Rig:
    """A loop over a feed, two sources of two partition numbers."""
    how = {source: rules(source, advance=advance, own_run_prefix="ethogram-relay/") for source in SOURCES}
    rig = Rig(records_of(feed), how=how)
    rig.assign(0, 1)
    return rig


def finish(rig: Rig) -> None:
    """Read and commit what is left."""
    rig.source.limits = []
    for _turn in range(3):
        rig.loop.turn()
        assert rig.loop.commit()


def outcome_of(rig: Rig) -> dict[str, Any]:
    """Everything that a reader can see, and the states that the relay goes on with."""
    states: dict[tuple[int, str], RunState | None] = {}
    for partition in rig.partitions:
        for run_id in RUN_IDS:
            states[partition.number, run_id] = partition.runs.get(run_id)
    return {
        "forwarded": rig.sink.forwarded,
        "own": [record.value for record in rig.sink.written_to("u")],
        "quarantined": [record.value for record in rig.sink.written_to("ethogram-relay.quarantine")],
        "changelog": rig.sink.compacted("ethogram-relay.changelog"),
        "relays": rig.sink.compacted("ethogram-relay.relays"),
        "positions": {partition.number: partition.positions for partition in rig.partitions},
        "states": states,
    }


def end_turn(rig: Rig, ending: str) -> None:
    """End a turn of the loop in one of the ways."""
    everything = [entry for partition in rig.partitions for entry in rig.partitions.topic_partitions(partition.number)]
    how: RelayError | None = None
    match ending:
        case "go on":
            return
        case "abort":
            how = TransactionAborted("why")
        case "doubt, held" | "doubt, not held":
            how = OutcomeUnknown("why")
            rig.sink.doubtful_ones_hold = [ending == "doubt, held"]
        case "revoke":
            rig.loop.revoked(everything)
            rig.assign(0, 1)
            return
        case "lose":
            rig.loop.lost(everything)
            rig.assign(0, 1)
            return
    rig.sink.endings = [how]
    rig.loop.commit()
    rig.sink.endings, rig.sink.doubtful_ones_hold = [], []


@given(feeds, st.lists(st.integers(0, 9), max_size=25), endings, st.booleans())
def test_any_cut_and_any_aborts_give_the_same(
    feed: list[Said],
    cuts: list[int],
    ends: list[str],
    advance: bool,  # noqa: FBT001 - drawn
) -> None:
    """Forwarded records, refusals, quarantine, changelog, positions and states are those of one uninterrupted pass."""
    wanted = rig_of(feed, advance=advance)
    finish(wanted)
    rig = rig_of(feed, advance=advance)
    for cut, ending in zip(cuts, ends, strict=False):
        rig.source.limits = [cut]
        rig.loop.turn()
        end_turn(rig, ending)
    rig.loop.turn()
    finish(rig)
    assert outcome_of(rig) == outcome_of(wanted)
