"""The watch over the topics, and the ending of the runs of the dead."""

from collections.abc import Iterable, Mapping
from typing import cast

from structlog.testing import capture_logs

from ethogram import parse_event
from relay.codec import RelayRun
from relay.errors import Fenced, NotAnswered
from relay.kafka.admin import Admin
from relay.kafka.producer import TransactionalProducer
from relay.kafka.reaper import Reaper
from relay.kafka.watch import Watch
from relay.partitions import Partition, Phase
from relay.records import OutgoingRecord
from relay.telemetry.logging import get_log
from relay.topics import Layout
from tests.unit.relay.doubles import Rig
from tests.unit.relay.samples import NOW_MS, config_of

CHANGELOG = "ethogram-relay.changelog"
LAYOUT = Layout(
    partition_count=4,
    keep_partition=True,
    record_bytes_max=1,
    state_bytes_max=1,
    quarantine_bytes_max=1,
    batch_bytes_max=1,
    forget_finished_ms=None,
    forget_idle_ms=None,
)


class Cluster:
    """What an admin client says of topics and of the group."""

    def __init__(self) -> None:
        self.topics: dict[str, tuple[str, int]] | None = {
            "a": ("id of a", 4),
            "b": ("id of b", 4),
            CHANGELOG: ("id", 4),
        }
        self.members: set[str] | None = {"i"}
        self.answers = True

    def topic_ids(self, _topics: Iterable[str], _timeout_s: float) -> dict[str, tuple[str, int]]:
        """Topic name to id and partition count."""
        if self.topics is None:
            raise NotAnswered("why")
        return self.topics

    def group_instances(self, _group: str, _timeout_s: float) -> set[str] | None:
        """The instance ids of the group's members."""
        if not self.answers:
            raise NotAnswered("why")
        return self.members


class Watching:
    """A watch over a rig with two partitions, one of them running."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.rig.assign(0)
        self.cluster = Cluster()
        self.halted: list[tuple[int, str]] = []
        admin = cast("Admin", self.cluster)
        self.watch = Watch(config_of(), admin, LAYOUT, self.rig.partitions, self.halt)

    def halt(self, partition: Partition, reason: str) -> None:
        """Note a halt."""
        self.halted.append((partition.number, reason))


def test_topics_as_they_were_are_let_be() -> None:
    """Nothing is halted while ids and counts are those of the start, or while the cluster does not answer."""
    watching = Watching()
    watching.watch.look()
    watching.cluster.topics = None
    watching.watch.look()
    assert watching.halted == []


def test_a_topic_made_anew_or_gone_halts() -> None:
    """A source with another id, or none, halts what is running, with its name."""
    for topics in ({"a": ("other", 4), "b": ("id of b", 4)}, {"b": ("id of b", 4)}):
        watching = Watching()
        watching.cluster.topics = topics
        watching.watch.look()
        assert watching.halted == [(0, "a: the topic was made anew or deleted while it was being read")]


def test_another_partition_count_halts() -> None:
    """A count that changed while running, the changelog's included, halts: keys are spread anew."""
    watching = Watching()
    assert watching.cluster.topics is not None
    watching.cluster.topics[CHANGELOG] = ("id", 5)
    watching.watch.look()
    assert watching.halted == [
        (
            0,
            (
                f"{CHANGELOG}: expected 4 partitions, as at the start, got 5; keys are spread anew, so runs would "
                "change partitions: restore the count or drain and begin anew"
            ),
        )
    ]


def test_what_is_not_running_is_not_halted_again() -> None:
    """A partition that is not judged is left as it is."""
    watching = Watching()
    watching.rig.loop.halt(watching.rig.partition(), "why")
    watching.cluster.topics = {}
    watching.watch.look()
    assert watching.halted == []
    assert watching.rig.partition().phase is Phase.HALTED


class DeadProducer:
    """A producer under the identity of the dead; it may find that they are not dead."""

    def __init__(self, *, alive: bool = False) -> None:
        self.alive = alive
        self.calls: list[str] = []
        self.written: list[OutgoingRecord] = []

    def renew(self) -> None:
        """Take the identity over."""
        self.calls.append("renew")
        if self.alive:
            raise Fenced("it is alive")

    def begin(self) -> None:
        """Open a transaction."""
        self.calls.append("begin")

    def write(self, records: Iterable[OutgoingRecord], _changelog: str) -> None:
        """Write the end of the run and its tombstone."""
        self.written += records

    def commit(self, offsets: dict[object, int], _metadata: object, _timeout_s: float) -> dict[int, int]:
        """End the transaction."""
        assert offsets == {}
        self.calls.append("commit")
        return {}

    def abandon(self) -> None:
        """Let the client go."""
        self.calls.append("abandon")


class Reaping:
    """A reaper with a session time-out of 10 s, over a rig that owns partition 0."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.rig.assign(0)
        self.cluster = Cluster()
        self.runs: Mapping[str, RelayRun] = {
            "ethogram-relay/i": RelayRun("ethogram-relay/i/1", 5, NOW_MS),
            "ethogram-relay/dead": RelayRun("ethogram-relay/dead/1", 7, NOW_MS - 60_000),
            "other/dead": RelayRun("other/dead/1", 7, NOW_MS),
        }
        self.producer = DeadProducer()
        self.identities: list[str] = []
        self.reaper = Reaper(
            config_of(),
            cast("Admin", self.cluster),
            self.rig.partitions,
            lambda: self.runs,
            self.producer_of,
            10.0,
            self.rig.clock,
            get_log(),
        )

    def producer_of(self, identity: str) -> TransactionalProducer:
        """A producer of an identity."""
        self.identities.append(identity)
        return cast("TransactionalProducer", self.producer)

    def look_for(self, seconds: int) -> None:
        """Look every five seconds."""
        with capture_logs():
            for _look in range(seconds // 5):
                self.reaper.look()
                self.rig.clock.advance(5)


def test_the_dead_are_ended_after_two_sessions() -> None:
    """An identity that is gone for over two session time-outs has its run ended, under its identity, and no sooner."""
    reaping = Reaping()
    reaping.look_for(25)
    assert reaping.identities == []
    reaping.look_for(5)
    assert reaping.identities == ["ethogram-relay/dead"]
    assert reaping.producer.calls == ["renew", "begin", "commit", "abandon"]
    finished, closed = reaping.producer.written
    event = parse_event(finished.value or b"")
    assert (event.run_id, event.seq, event.type) == ("ethogram-relay/dead/1", 7, "run.finished")
    assert event.payload["outcome"] == "failed"
    assert (closed.topic, closed.key, closed.value) == ("ethogram-relay.relays", b"ethogram-relay/dead", None)


def test_who_came_back_is_not_dead() -> None:
    """A member that is seen again begins anew to be missed."""
    reaping = Reaping()
    reaping.look_for(20)
    reaping.cluster.members = {"i", "dead"}
    reaping.look_for(5)
    reaping.cluster.members = {"i"}
    reaping.look_for(20)
    assert reaping.identities == []


def test_another_run_of_the_same_identity_is_not_dead() -> None:
    """An identity that opened its next run is alive, even where it has not joined the group yet."""
    reaping = Reaping()
    reaping.look_for(20)
    reaping.runs = dict(reaping.runs) | {"ethogram-relay/dead": RelayRun("ethogram-relay/dead/2", 2, NOW_MS)}
    reaping.look_for(25)
    assert reaping.identities == []
    reaping.look_for(5)
    assert reaping.identities == ["ethogram-relay/dead"]


def test_a_group_in_motion_is_not_judged() -> None:
    """While the group rebalances, or nobody answers, nobody is taken for dead."""
    reaping = Reaping()
    reaping.cluster.members = None
    reaping.look_for(60)
    reaping.cluster.answers = False
    reaping.look_for(60)
    assert reaping.identities == []


def test_the_owner_of_partition_0_does_it() -> None:
    """Whoever does not own partition 0 ends nobody's run, and begins anew once it does."""
    reaping = Reaping()
    reaping.look_for(20)
    reaping.rig.loop.revoked(reaping.rig.partitions.topic_partitions(0))
    reaping.look_for(60)
    assert reaping.identities == []
    reaping.rig.assign(0)
    reaping.look_for(20)
    assert reaping.identities == []


def test_a_dead_one_that_lives_is_let_be() -> None:
    """Where the identity's takeover fails, nothing is written, the client is let go, and this relay goes on."""
    reaping = Reaping()
    reaping.producer = DeadProducer(alive=True)
    reaping.look_for(30)
    assert reaping.producer.calls == ["renew", "abandon"]
    assert reaping.producer.written == []


def test_a_run_that_was_ended_meanwhile_is_not_ended_again() -> None:
    """The truth is read once more after the takeover: a run that is closed by then gets no second end."""
    reaping = Reaping()
    reaping.look_for(25)
    everything = dict(reaping.runs)
    answers = [everything, {"ethogram-relay/i": everything["ethogram-relay/i"]}]
    reaping.reaper._read_open_runs = lambda: answers.pop(0)  # noqa: SLF001 - the log says another thing each time
    reaping.look_for(5)
    assert reaping.producer.calls == ["renew", "abandon"]
