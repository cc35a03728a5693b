"""The group member over a stand-in for the client: what it reads, and what it throws away."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientTopicPartition

from relay.errors import Fatal, Fenced
from relay.kafka import consumer as consumer_module
from relay.kafka.consumer import SourceConsumer
from relay.records import Header, SourceRecord, TopicPartition

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


class Read:
    """A record, or an error in its place, as the client hands it out."""

    def __init__(
        self,
        offset: int,
        *,
        partition: int = 0,
        error: KafkaError | None = None,
        headers: list[Header] | None = None,
        odd_headers: bool = False,
    ) -> None:
        self._at = partition, offset
        self._error = error
        self._headers = headers
        self._odd_headers = odd_headers

    def topic(self) -> str:
        """Its topic."""
        return "a"

    def partition(self) -> int:
        """Its partition."""
        return self._at[0]

    def offset(self) -> int:
        """Its offset."""
        return self._at[1]

    def timestamp(self) -> tuple[int, int]:
        """Kind and milliseconds."""
        return 1, 1000 + self._at[1]

    def key(self) -> bytes:
        """Its key."""
        return b"k"

    def value(self) -> bytes:
        """Its value."""
        return b"v"

    def headers(self) -> list[Header] | None:
        """Its headers; the client decodes their names."""
        if self._odd_headers:
            b"\xff".decode()
        return self._headers

    def error(self) -> KafkaError | None:
        """What went wrong."""
        return self._error


class Client:
    """Stands in for the client."""

    def __init__(self, _settings: dict[str, Any]) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.ready: list[Read] = []
        self.callbacks: dict[str, Callable[..., None]] = {}
        self.during_poll: Callable[[], None] = lambda: None
        self.fails: dict[str, KafkaException] = {}

    def subscribe(self, topics: list[str], **callbacks: Callable[..., None]) -> None:
        """Join."""
        self.calls.append(("subscribe", topics))
        self.callbacks = callbacks

    def unsubscribe(self) -> None:
        """Leave."""
        self.calls.append(("unsubscribe", None))

    def poll(self, _timeout_s: float) -> Read | None:
        """The first record."""
        self._step("poll")
        self.during_poll()
        return self.ready.pop(0) if self.ready else None

    def consume(self, limit: int, timeout_s: float) -> list[Read]:
        """The others that are there."""
        assert timeout_s == 0
        taken, self.ready = self.ready[:limit], self.ready[limit:]
        return taken

    def assign(self, entries: list[Any]) -> None:
        """Take over an assignment."""
        self.calls.append(("assign", [(entry.topic, entry.partition, entry.offset) for entry in entries]))

    def unassign(self) -> None:
        """Give the assignment up."""
        self.calls.append(("unassign", None))

    def pause(self, entries: list[Any]) -> None:
        """Stop reading."""
        self._step("pause")
        self.calls.append(("pause", [(entry.topic, entry.partition) for entry in entries]))

    def resume(self, entries: list[Any]) -> None:
        """Read on."""
        self._step("resume")
        self.calls.append(("resume", [(entry.topic, entry.partition) for entry in entries]))

    def seek(self, entry: Any) -> None:  # noqa: ANN401 - the client's own
        """Go to an offset."""
        self._step("seek")
        self.calls.append(("seek", (entry.topic, entry.partition, entry.offset)))

    def committed(self, entries: list[Any], _timeout_s: float) -> list[Any]:
        """Committed offsets: 5 for partition 0, none for any other."""
        self._step("committed")
        for entry in entries:
            entry.offset = 5 if entry.partition == 0 else -1001
        return entries

    def get_watermark_offsets(self, entry: Any, **_options: Any) -> tuple[int, int]:  # noqa: ANN401 - the client's own
        """The ends of a log, not known but for partition 0."""
        self._step("watermarks")
        return (0, 12) if entry.partition == 0 else (-1001, -1001)

    def _step(self, name: str) -> None:
        if name in self.fails:
            raise self.fails[name]


class Heard:
    """What the listener was told, in the client's own list of calls."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        self.calls = calls

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """These are ours."""
        self.calls.append(("assigned", partitions))

    def revoked(self, partitions: list[TopicPartition]) -> None:
        """These are about to go."""
        self.calls.append(("revoked", partitions))

    def lost(self, partitions: list[TopicPartition]) -> None:
        """These are gone."""
        self.calls.append(("lost", partitions))

    def unreadable(self, entry: TopicPartition, reason: str) -> None:
        """This one cannot be read on."""
        self.calls.append(("unreadable", (entry, reason)))


@pytest.fixture
def member(monkeypatch: pytest.MonkeyPatch) -> tuple[SourceConsumer, Client]:
    """A member that has joined, and its client."""
    monkeypatch.setattr(consumer_module, "Consumer", Client)
    made = SourceConsumer({}, lambda _entries: {A0: 4}, lambda _error: None)
    client = cast("Client", made._client)  # noqa: SLF001 - the stand-in
    made.join(["a"], Heard(client.calls))
    client.calls.clear()
    return made, client


Member = tuple[SourceConsumer, Client]


def error_of(code: int) -> KafkaError:
    """A client's error."""
    return KafkaError(code, "why")


def test_records_are_read_whole(member: Member) -> None:
    """A record keeps its coordinates, time, key, value and headers; what has arrived is taken up to the limit."""
    consumer, client = member
    client.ready = [Read(5, headers=[("h", None)]), Read(6), Read(7)]
    assert consumer.fetch(2, 0.1) == [
        SourceRecord("a", 0, 5, 1005, b"k", b"v", [("h", None)]),
        SourceRecord("a", 0, 6, 1006, b"k", b"v", None),
    ]
    assert [record.offset for record in consumer.fetch(2, 0.1)] == [7]
    assert consumer.fetch(2, 0.1) == []


def test_what_is_assigned_waits_for_its_offsets(member: Member) -> None:
    """An assignment is paused before anything else, and the listener is told after that."""
    consumer, client = member
    client.during_poll = lambda: client.callbacks["on_assign"](client, [ClientTopicPartition("a", 0)])
    consumer.fetch(1, 0.1)
    assert client.calls == [("assign", [("a", 0, 4)]), ("pause", [("a", 0)]), ("assigned", [A0])]


@pytest.mark.parametrize(("callback", "told"), [("on_revoke", "revoked"), ("on_lost", "lost")])
def test_the_listener_settles_before_the_assignment_goes(member: Member, callback: str, told: str) -> None:
    """The listener is told of a revocation or loss while the assignment is still there."""
    consumer, client = member
    client.during_poll = lambda: client.callbacks[callback](client, [ClientTopicPartition("a", 0)])
    consumer.fetch(1, 0.1)
    assert client.calls == [(told, [A0]), ("unassign", None)]


def test_records_fetched_under_an_old_assignment_are_thrown_away(member: Member) -> None:
    """Whatever a call that saw a rebalance returns is not judged: the new assignment starts at explicit offsets."""
    consumer, client = member
    client.ready = [Read(5), Read(6)]
    client.during_poll = lambda: client.callbacks["on_assign"](client, [ClientTopicPartition("a", 0)])
    assert consumer.fetch(9, 0.1) == []
    client.during_poll = lambda: None
    client.ready = [Read(5)]
    assert len(consumer.fetch(9, 0.1)) == 1


def test_errors_come_out_sorted(member: Member) -> None:
    """A fence ends the process, what cannot be read on is told of, and what passes is no record."""
    consumer, client = member
    client.ready = [Read(5, error=error_of(KafkaError._TRANSPORT)), Read(6)]  # noqa: SLF001 - the client's constants
    assert [record.offset for record in consumer.fetch(9, 0.1)] == [6]
    client.ready = [Read(5, error=error_of(KafkaError.OFFSET_OUT_OF_RANGE), partition=1), Read(6)]
    assert [record.offset for record in consumer.fetch(9, 0.1)] == [6]
    assert client.calls == [("unreadable", (A1, "OFFSET_OUT_OF_RANGE: why"))]
    client.ready = [Read(5, error=error_of(KafkaError.FENCED_INSTANCE_ID))]
    with pytest.raises(Fenced):
        consumer.fetch(9, 0.1)
    client.ready = [Read(5, error=error_of(KafkaError.TOPIC_AUTHORIZATION_FAILED))]
    with pytest.raises(Fatal):
        consumer.fetch(9, 0.1)


def test_a_header_name_that_is_no_text_stops_its_partition(member: Member) -> None:
    """A record that the client cannot repeat is not passed over: its partition stops there, the others go on."""
    consumer, client = member
    client.ready = [Read(5), Read(6, odd_headers=True), Read(7), Read(3, partition=1)]
    assert [(record.partition, record.offset) for record in consumer.fetch(9, 0.1)] == [(0, 5), (1, 3)]
    assert client.calls == [("unreadable", (A0, "offset 6: expected header names in UTF-8"))]


def test_reading_starts_where_it_is_told(member: Member) -> None:
    """Resuming seeks first; rewinding seeks and does not resume; pausing names what it pauses."""
    consumer, client = member
    consumer.resume({A0: 5})
    consumer.rewind({A0: 3})
    consumer.pause([A1])
    assert client.calls == [
        ("seek", ("a", 0, 5)),
        ("resume", [("a", 0)]),
        ("seek", ("a", 0, 3)),
        ("pause", [("a", 1)]),
    ]


def test_committed_offsets_are_known_or_not(member: Member) -> None:
    """A committed offset, none, and an answer that did not come are three things."""
    consumer, client = member
    assert consumer.committed([A0, A1], 0.1) == {A0: 5, A1: None}
    client.fails["committed"] = KafkaException(error_of(KafkaError._TIMED_OUT))  # noqa: SLF001 - the client's constants
    assert consumer.committed([A0], 0.1) is None
    client.fails["committed"] = KafkaException(error_of(KafkaError.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(Fatal):
        consumer.committed([A0], 0.1)


def test_ends_are_known_or_not(member: Member) -> None:
    """The end of a log is the client's last word, or none, and never a failure."""
    consumer, client = member
    assert (consumer.end_offset(A0), consumer.end_offset(A1)) == (12, None)
    client.fails["watermarks"] = KafkaException(error_of(KafkaError.UNKNOWN))
    assert consumer.end_offset(A0) is None


@pytest.mark.parametrize("step", ["poll", "seek", "pause", "resume"])
def test_no_failure_of_the_client_escapes(member: Member, step: str) -> None:
    """Whatever the client raises is one of the relay's errors, with an exit code of its own."""
    consumer, client = member
    client.fails[step] = KafkaException(error_of(KafkaError.UNKNOWN))
    with pytest.raises(Fatal):
        act(consumer, step)


def act(consumer: SourceConsumer, step: str) -> None:
    """Ask for what leads to a call of the client."""
    match step:
        case "poll":
            consumer.fetch(1, 0.1)
        case "pause":
            consumer.pause([A0])
        case _:
            consumer.resume({A0: 1})


def test_joining_anew_leaves_first(member: Member) -> None:
    """A member that joins anew leaves, waits until the revocation was served, and subscribes to the same topics."""
    consumer, client = member
    polls = iter(["nothing", "revocation"])

    def during_poll() -> None:
        client.calls.append(("poll", None))
        if next(polls) == "revocation":
            client.callbacks["on_revoke"](client, [ClientTopicPartition("a", 0)])

    client.during_poll = during_poll
    consumer.rejoin()
    steps = [name for name, _what in client.calls]
    assert steps == ["unsubscribe", "poll", "poll", "revoked", "unassign", "subscribe"]


@pytest.mark.parametrize("call", ["on_revoke", "on_lost"])
def test_a_fence_inside_a_rebalance_ends_the_process_there(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """An identity that is another's is told of before the callback returns: the client must not join once more."""
    monkeypatch.setattr(consumer_module, "Consumer", Client)
    ended: list[Fenced] = []
    consumer = SourceConsumer({}, lambda _entries: {}, ended.append)
    client = cast("Client", consumer._client)  # noqa: SLF001 - the stand-in

    class Replaced(Heard):
        def revoked(self, partitions: list[TopicPartition]) -> None:
            raise Fenced(f"why {len(partitions)}")

        lost = revoked

    consumer.join(["a"], Replaced(client.calls))
    with pytest.raises(Fenced):
        client.callbacks[call](client, [ClientTopicPartition("a", 0)])
    assert [str(error) for error in ended] == ["why 1"]
    assert ("unassign", None) not in client.calls
