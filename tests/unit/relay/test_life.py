"""The life of the own run."""

from collections.abc import Mapping

import pytest

from ethogram import Event, parse_event
from relay.codec import RelayRun, decode_relay_run
from relay.errors import Fenced
from relay.life import Life, Relays
from relay.outbox import Outbox, OutboxLimits
from relay.own_run import OwnRun
from tests.unit.relay.samples import NOW_MS, StillClock, config_of

DAY_S = 86_400


class Living:
    """A life over what a relays topic is made to say."""

    def __init__(self, found: Mapping[str, RelayRun]) -> None:
        self.found = found
        self.glanced: Mapping[str, RelayRun] = {}
        """What is in the relays topic without being committed; empty for the same."""
        self.renewals = 0
        self.clock = StillClock()
        config = config_of()
        self.own = OwnRun("ethogram-relay", config.identity, "u")
        self.outbox = Outbox(config.topics, self.own, OutboxLimits(10_000, 10_000), self.clock)
        self.life = Life(
            config,
            self.own,
            self.outbox,
            self.clock,
            Relays(self._renew, lambda: self.found, lambda: self.glanced or self.found),
        )

    def _renew(self) -> None:
        self.renewals += 1

    def said(self) -> list[Event]:
        """The own events that were staged since the last look."""
        return [parse_event(record.value or b"") for record in self.outbox.take_records()]

    def commit(self) -> None:
        """Commit what is staged; the relays topic says so."""
        self.outbox.committed({})
        self.found = {} if self.own.current is None else {"ethogram-relay/i": self.own.current}


def test_a_first_life_opens_its_run() -> None:
    """With nothing left open a run of the identity is begun, under an id of its own."""
    living = Living({"ethogram-relay/other": RelayRun("ethogram-relay/other/1", 5, NOW_MS)})
    living.life.begin()
    assert living.life.left_open is None
    (started,) = living.said()
    assert started.type == "run.started"
    assert started.run_id.startswith("ethogram-relay/i/")
    assert len(started.run_id) == len("ethogram-relay/i/") + 36
    again = Living({})
    again.life.begin()
    assert again.said()[0].run_id != started.run_id


def test_a_run_that_was_left_open_is_ended_first() -> None:
    """A successor ends the run that its identity left open as failed, with reason and duration, then starts its own."""
    left = RelayRun("ethogram-relay/i/old", 7, NOW_MS - 60_000)
    living = Living({"ethogram-relay/i": left})
    living.life.begin()
    assert living.life.left_open == left
    finished, started = living.said()
    assert (finished.run_id, finished.seq, finished.type) == ("ethogram-relay/i/old", 7, "run.finished")
    assert finished.payload == {
        "outcome": "failed",
        "reason": "the process ended without closing its run",
        "durationMs": 60_000,
    }
    assert (started.type, started.seq) == ("run.started", 1)
    assert living.own.staged == RelayRun(started.run_id, 2, NOW_MS)


def test_recovery_goes_on_with_what_is_true() -> None:
    """After an unknown outcome the run goes on with the number that the relays topic says, committed or not."""
    living = Living({})
    living.life.begin()
    (started,) = living.said()
    living.commit()
    for truth in (2, 9):
        living.found = {"ethogram-relay/i": RelayRun(started.run_id, truth, NOW_MS)}
        living.life.recover()
        assert living.said() == []
        assert living.own.staged == living.own.current == RelayRun(started.run_id, truth, NOW_MS)


def test_recovery_opens_a_run_where_none_is_true() -> None:
    """If the transaction in doubt was the one that opened the run, and was aborted, a run is begun."""
    living = Living({})
    living.life.begin()
    living.said()
    living.life.recover()
    (started,) = living.said()
    assert started.type == "run.started"


def test_a_run_is_rotated_by_its_age() -> None:
    """At the age that is configured a run is completed and a new one begun, in the same transaction; not before."""
    living = Living({})
    living.life.begin()
    (first,) = living.said()
    living.commit()
    living.clock.advance(DAY_S - 1)
    living.life.rotate_if_old()
    assert living.said() == []
    living.clock.advance(1)
    living.life.rotate_if_old()
    finished, started = living.said()
    assert (finished.run_id, finished.seq) == (first.run_id, 2)
    assert finished.payload == {"outcome": "completed", "reason": "rotated by age", "durationMs": DAY_S * 1000}
    assert (started.type, started.seq) == ("run.started", 1)
    assert started.run_id != first.run_id
    living.commit()
    living.life.recover()
    assert living.said() == []


def test_a_stop_ends_the_run_once() -> None:
    """A clean stop completes the run; asked again, nothing more is said, and nothing is rotated."""
    living = Living({})
    living.life.begin()
    living.said()
    living.commit()
    living.life.end()
    (finished,) = living.said()
    assert finished.payload == {"outcome": "completed", "reason": "stopped", "durationMs": 0}
    living.life.end()
    living.life.rotate_if_old()
    assert living.said() == []


def test_a_successor_is_not_taken_back_from() -> None:
    """In recovery a run of this identity that this life did not open, committed or not, is a successor's: fenced."""
    living = Living({})
    living.life.begin()
    living.said()
    living.commit()
    living.life.recover()
    assert living.said() == []
    renewals = living.renewals
    living.glanced = {"ethogram-relay/i": RelayRun("ethogram-relay/i/successor", 2, NOW_MS)}
    with pytest.raises(Fenced, match="a successor has begun the run ethogram-relay/i/successor"):
        living.life.recover()
    assert living.renewals == renewals, "the identity was taken back"


def test_a_proof_changes_nothing() -> None:
    """The relays entry is staged as it is; before a run is open there is nothing to prove with."""
    living = Living({})
    living.life.prove()
    assert living.outbox.take_records() == []
    living.life.begin()
    living.said()
    living.commit()
    living.life.prove()
    (entry,) = living.outbox.take_records()
    assert decode_relay_run(entry.value or b"") == living.own.current
