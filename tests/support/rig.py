"""One relay deployment on the shared broker: its topics, configuration files, processes, and the ledger that counts."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient

from tests.support.kafka import KafkaBroker
from tests.support.ledger import Ledger
from tests.support.plan import Planned, SourcePlan
from tests.support.records import create_topics
from tests.support.relay_process import RelayProcess, write_config
from tests.support.tally import Outputs, Place

RECORD_BYTES_DEFAULT = 1_048_588
ENVELOPE_BYTES = 65_536
SESSION_TIMEOUT_MS = 6_000
"""The least that a broker takes; the relay's own default waits for a restart, a test waits for the takeover."""
WAIT_INTERVAL_S = 0.05


class Rig:
    """Names everything from one prefix, so that tests share a broker and nothing else.

    Args:
        kafka: The broker.
        prefix: The test's topic prefix.
        folder: Where configuration files and logs go.
        sources: The sources; their topics are the given names behind the prefix.
        partitions: Partitions of the sources and the changelog.
        unified_partitions: Partitions of the unified topic; by default as many.
        config: More of the configuration's `relay` and `kafka` sections.
        topic_settings: Settings of topics over the right ones, by `unified`, `quarantine`, `changelog`, `relays` or
            the source's name.
    """

    def __init__(
        self,
        kafka: KafkaBroker,
        prefix: str,
        folder: Path,
        sources: Sequence[SourcePlan] = (SourcePlan("a"),),
        *,
        partitions: int = 2,
        unified_partitions: int | None = None,
        config: Mapping[str, Mapping[str, Any]] | None = None,
        topic_settings: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.kafka = kafka
        self.name = prefix.rstrip("-")
        self.partitions = partitions
        self.unified_partitions = unified_partitions or partitions
        self.sources = [
            SourcePlan(f"{self.name}.{source.topic}", source.validation, source.after_refusal) for source in sources
        ]
        self.outputs = Outputs(
            self.name,
            f"{self.name}.unified",
            f"{self.name}.changelog",
            f"{self.name}.relays",
            f"{self.name}.quarantine",
        )
        self.admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        self._folder = folder
        self._config = {"relay": {}, "kafka": {}, **(config or {})}
        self._topic_settings = topic_settings or {}
        self.ledger = Ledger(
            kafka.bootstrap_servers, self.sources, self.outputs, self.partitions, self.unified_partitions
        )

    @property
    def topics(self) -> list[str]:
        """The source topics, in the order given."""
        return [source.topic for source in self.sources]

    def create_topics(self, leave_out: Iterable[str] = ()) -> None:
        """Create every topic as it must be, but for those named as in `topic_settings`."""
        wanted = {
            "unified": (self.unified_partitions, {}),
            "changelog": (self.partitions, {"cleanup.policy": "compact"}),
            "relays": (1, {"cleanup.policy": "compact"}),
            "quarantine": (self.partitions, {"max.message.bytes": str(RECORD_BYTES_DEFAULT + ENVELOPE_BYTES)}),
            **{topic.removeprefix(f"{self.name}."): (self.partitions, {}) for topic in self.topics},
        }
        create_topics(
            self.kafka.bootstrap_servers,
            {
                f"{self.name}.{name}": {
                    "partitions": count,
                    "config": {**settings, **self._topic_settings.get(name, {})},
                }
                for name, (count, settings) in wanted.items()
                if name not in set(leave_out)
            },
        )

    def config(self, instance: str = "relay-0", sources: Sequence[SourcePlan] | None = None) -> dict[str, Any]:
        """The configuration of one instance, without its HTTP port."""
        return {
            "relay": {
                "name": self.name,
                "unified_topic": self.outputs.unified,
                "instance_id": instance,
                "commit_interval_ms": 50,
                **self._config["relay"],
            },
            "sources": [
                {"topic": s.topic, "validation": s.validation, "after_refusal": s.after_refusal}
                for s in sources or self.sources
            ],
            "kafka": {
                "bootstrap.servers": self.kafka.bootstrap_servers,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": 500,
                **self._config["kafka"],
            },
        }

    def relay(
        self,
        instance: str = "relay-0",
        sources: Sequence[SourcePlan] | None = None,
        *,
        life: str = "",
        config: Mapping[str, Any] | None = None,
    ) -> RelayProcess:
        """A relay process, not started.

        Args:
            instance: Its `instance_id`.
            sources: Its sources, by default all.
            life: Tells a second process of the same instance from the first.
            config: Its configuration, in place of the one that `config` gives.
        """
        path = write_config(self._folder / f"{instance}{life}.yaml", config or self.config(instance, sources))
        return RelayProcess(path)

    def produce(self, source: int, planned: Iterable[Planned], *, judged: bool = True) -> list[Place]:
        """Produce to a source by its number."""
        return self.ledger.produce(self.topics[source], planned, judged=judged)

    @contextmanager
    def load(self, batch: Callable[[int], Mapping[int, list[Planned]]], interval_s: float = 0.1) -> Iterator[None]:
        """Produce batches in the background until the block ends.

        Args:
            batch: Gives the records of each source number for the batch of a number from 0.
            interval_s: From one batch to the next, seconds.

        Raises:
            RuntimeError: If producing failed.
        """
        stop = threading.Event()
        faults: list[BaseException] = []

        def run() -> None:
            number = 0
            try:
                while not stop.wait(interval_s):
                    for source, planned in batch(number).items():
                        self.produce(source, planned)
                    number += 1
            except BaseException as error:  # noqa: BLE001 - told to the test below, whatever it is
                faults.append(error)

        thread = threading.Thread(target=run, name="load")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(60)
        if faults:
            raise RuntimeError("producing failed") from faults[0]


def wait_until(condition: Callable[[], bool], timeout_s: float, wanted: str) -> None:
    """Wait for a condition.

    Raises:
        TimeoutError: If it does not hold in time; it says what was wanted.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected {wanted} in {timeout_s:.0f} s")
        time.sleep(WAIT_INTERVAL_S)
