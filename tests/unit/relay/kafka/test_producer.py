"""The transactional producer over a stand-in for the client: what is asked of it, and what its failures mean."""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from relay.errors import Fatal, Fenced, OutcomeUnknown, RelayError, TransactionAborted
from relay.kafka import producer as producer_module
from relay.kafka.producer import TransactionalProducer
from relay.records import OutgoingRecord, TopicPartition
from tests.unit.relay.samples import NOW_MS, event_record


def failure(code: int, *, fatal: bool = False, abort: bool = False) -> KafkaException:
    """The client's exception."""
    return KafkaException(KafkaError(code, "why", fatal, False, abort))  # noqa: FBT003 - the client's own signature


ABORTABLE = failure(KafkaError.ILLEGAL_GENERATION, abort=True)
FENCE = failure(KafkaError.PRODUCER_FENCED, fatal=True)
FATAL = failure(KafkaError.UNKNOWN, fatal=True)
SILENCE = failure(KafkaError._TIMED_OUT)  # noqa: SLF001 - the client's public constants begin so


class Delivered:
    """A delivered record, as the client tells of it."""

    def __init__(self, partition: int, offset: int) -> None:
        self.at = partition, offset

    def partition(self) -> int:
        """Its partition."""
        return self.at[0]

    def offset(self) -> int:
        """Its offset."""
        return self.at[1]


class Client:
    """Stands in for the client: notes its calls and fails where it is told to."""

    made: list["Client"]
    fails: dict[str, list[Exception | None]]

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.calls: list[str] = []
        self.produced: list[tuple[Any, ...]] = []
        self.offsets: list[tuple[Any, ...]] = []
        self.deliveries: list[Callable[[], None]] = []
        self._step("new")
        Client.made.append(self)

    def _step(self, name: str) -> None:
        self.calls.append(name)
        told = Client.fails.get(name) or [None]
        error = told.pop(0)
        if error is not None:
            raise error

    def init_transactions(self, _timeout_s: float) -> None:
        """Take the identity over."""
        self._step("init")

    def begin_transaction(self) -> None:
        """Begin."""
        self._step("begin")

    def produce(self, *arguments: Any) -> None:  # noqa: ANN401 - the client's many
        """Queue a record."""
        self._step("produce")
        self.produced.append(arguments)
        on_delivery, partition = arguments[5], arguments[3]
        if on_delivery is not None:
            offset = len(self.produced) + 100
            self.deliveries.append(lambda: on_delivery(None, Delivered(partition, offset)))

    def poll(self, _timeout_s: float) -> None:
        """Tell of deliveries."""
        for tell in self.deliveries:
            tell()
        self.deliveries.clear()

    def send_offsets_to_transaction(self, entries: list[Any], metadata: object, _timeout_s: float) -> None:
        """Put offsets into the transaction."""
        self._step("offsets")
        self.offsets += [(entry.topic, entry.partition, entry.offset, metadata) for entry in entries]

    def commit_transaction(self, _timeout_s: float) -> None:
        """Commit."""
        self._step("commit")

    def abort_transaction(self, _timeout_s: float) -> None:
        """Abort."""
        self._step("abort")


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in in the client's place."""
    Client.made, Client.fails = [], {}
    monkeypatch.setattr(producer_module, "Producer", Client)


def producer_of(*, keep_partition: bool = True) -> TransactionalProducer:
    """A producer that has its identity."""
    made = TransactionalProducer(
        {"transactional.id": "x"},
        keep_partition=keep_partition,
        init_timeout_s=1.0,
        call_timeout_s=1.0,
        waiting=lambda: None,
    )
    made.renew()
    return made


def test_source_records_are_written_as_they_are() -> None:
    """Value, key, partition, timestamp and headers go to the client as they came."""
    producer = producer_of()
    producer.begin()
    one = event_record()._replace(partition=3, headers=[("h", None), ("h", b"")])
    producer.forward("u", [one])
    assert Client.made[0].produced == [("u", one.value, b"r", 3, None, None, NOW_MS - 5, one.headers)]


def test_where_counts_differ_keys_are_hashed() -> None:
    """Where the unified topic has another partition count, the client hashes the key."""
    producer = producer_of(keep_partition=False)
    producer.begin()
    producer.forward("u", [event_record()._replace(partition=3)])
    assert Client.made[0].produced[0][3] == -1


def test_a_commit_carries_offsets_and_tells_how_far_the_changelog_is() -> None:
    """Offsets go into the transaction with the metadata; the changelog's delivered offsets are the answer."""
    producer = producer_of()
    producer.begin()
    states = [OutgoingRecord("c", b"v", b"k", number, 0, None) for number in (2, 2, 5)]
    producer.write([*states, OutgoingRecord("other", b"v", b"k", 7, 0, None)], "c")
    ends = producer.commit({TopicPartition("a", 2): 9}, "metadata", 1.0)
    assert ends == {2: 103, 5: 104}
    assert Client.made[0].offsets == [("a", 2, 9, "metadata")]
    assert Client.made[0].calls[-2:] == ["offsets", "commit"]
    assert not producer.in_transaction


def test_each_transaction_tells_of_its_own_changelog_records() -> None:
    """What an earlier transaction wrote is not told of again."""
    producer = producer_of()
    producer.begin()
    producer.write([OutgoingRecord("c", b"v", b"k", 2, 0, None)], "c")
    assert producer.commit({}, None, 1.0) == {2: 102}
    producer.begin()
    producer.write([OutgoingRecord("c", b"v", b"k", 5, 0, None)], "c")
    assert producer.commit({}, None, 1.0) == {5: 103}


def test_a_transaction_without_offsets_sends_none() -> None:
    """A transaction of the own run alone has no offsets to send."""
    producer = producer_of()
    producer.begin()
    assert producer.commit({}, None, 1.0) == {}
    assert "offsets" not in Client.made[0].calls


@pytest.mark.parametrize("step", ["begin", "produce", "offsets", "commit"])
def test_what_can_be_aborted_is_aborted_at_once(step: str) -> None:
    """An abortable failure of any step is aborted here: the caller need only go on."""
    producer = producer_of()
    Client.fails = {step: [ABORTABLE]}
    with pytest.raises(TransactionAborted, match="ILLEGAL_GENERATION: why"):
        transact(producer)
    assert not producer.in_transaction
    assert Client.made[0].calls[-1] == ("begin" if step == "begin" else "abort")


def transact(producer: TransactionalProducer) -> None:
    """One whole transaction."""
    producer.begin()
    producer.forward("u", [event_record()])
    producer.commit({TopicPartition("a", 0): 1}, None, 1.0)


@pytest.mark.parametrize(
    ("error", "meaning"),
    [(FENCE, Fenced), (FATAL, Fatal), (SILENCE, OutcomeUnknown)],
    ids=["fence", "fatal", "silence"],
)
@pytest.mark.parametrize("step", ["begin", "produce", "offsets", "commit"])
def test_what_cannot_be_aborted_is_sorted(step: str, error: KafkaException, meaning: type[RelayError]) -> None:
    """A fence, a fatal error and silence come out as what they are; only a dead client is asked what it died of."""
    producer = producer_of()
    Client.fails = {step: [error]}
    with pytest.raises(meaning):
        transact(producer)
    assert ("abort" in Client.made[0].calls) == (meaning is Fatal)


def test_a_dead_client_is_asked_what_it_died_of() -> None:
    """`produce` on a fenced client says that it is dead and not why; the abort says so, and that decides."""
    producer = producer_of()
    Client.fails = {"produce": [FATAL], "abort": [FENCE]}
    with pytest.raises(Fenced):
        transact(producer)


@pytest.mark.parametrize(
    ("error", "meaning"), [(ABORTABLE, OutcomeUnknown), (SILENCE, OutcomeUnknown), (FENCE, Fenced)]
)
def test_an_abort_that_fails_leaves_the_end_in_doubt(error: KafkaException, meaning: type[RelayError]) -> None:
    """Where the abort itself fails, the outcome is unknown, unless it is a fence."""
    for begin_with in (None, ABORTABLE):
        producer = producer_of()
        Client.fails = {"abort": [error], "commit": [begin_with]}
        producer.begin()
        with pytest.raises(meaning):
            (producer.abort if begin_with is None else commit_of(producer))()
        assert not producer.in_transaction


def commit_of(producer: TransactionalProducer) -> Callable[[], object]:
    """A commit without offsets, to be called."""
    return lambda: producer.commit({}, None, 1.0)


def test_an_abort_of_nothing_asks_nothing() -> None:
    """Without an open transaction there is nothing to abort."""
    producer = producer_of()
    producer.abort()
    assert Client.made[0].calls == ["new", "init"]


def test_a_doubtful_client_is_made_anew() -> None:
    """A renewal throws the client away and takes the identity over with another one."""
    producer = producer_of()
    producer.begin()
    producer.abandon()
    assert not producer.in_transaction
    with pytest.raises(RuntimeError, match="not initialised"):
        producer.begin()
    producer.renew()
    transact(producer)
    assert [client.calls[:2] for client in Client.made] == [["new", "init"], ["new", "init"]]
    assert Client.made[1].calls[-1] == "commit"


@pytest.mark.parametrize(("error", "meaning"), [(SILENCE, Fatal), (ABORTABLE, Fatal), (FATAL, Fatal), (FENCE, Fenced)])
@pytest.mark.parametrize("step", ["new", "init"])
def test_a_takeover_that_fails_ends_the_process(step: str, error: KafkaException, meaning: type[RelayError]) -> None:
    """Without its identity the relay cannot go on."""
    Client.fails = {step: [error]}
    with pytest.raises(meaning, match="init_transactions: "):
        producer_of()


def test_a_full_queue_is_waited_for() -> None:
    """A client whose queue is full is given time to send; the record is then written, once."""
    producer = producer_of()
    Client.fails = {"produce": [BufferError(), BufferError(), None, BufferError(), None]}
    producer.begin()
    producer.forward("u", [event_record()])
    producer.write([OutgoingRecord("c", b"v", b"k", 2, 0, None)], "c")
    assert [arguments[0] for arguments in Client.made[0].produced] == ["u", "c"]
    assert producer.commit({}, None, 1.0) == {2: 103}


def test_a_queue_that_stays_full_leaves_the_end_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that is full for longer than a call may take is no outcome that is known."""
    producer = producer_of()
    seconds = iter([0.0, 0.5, 0.9, 1.1])
    monkeypatch.setattr("relay.kafka.producer.time.monotonic", lambda: next(seconds))
    Client.fails = {"produce": [BufferError()] * 9}
    producer.begin()
    with pytest.raises(OutcomeUnknown, match="stayed full for 1 s"):
        producer.forward("u", [event_record()])
