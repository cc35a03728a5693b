"""The only place where the relay's parts are joined: starts, drains and stops them."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from relay.chores import FORGET_INTERVAL_S, GAUGES_INTERVAL_S, ROTATE_INTERVAL_S, WATCH_INTERVAL_S, Chore, Chores
from relay.clock import Clock, SystemClock
from relay.codec import RelayRun
from relay.config import Config
from relay.errors import Fatal, Fenced, Interrupted, NotAnswered, StartUpError
from relay.exit_codes import ExitCode
from relay.forgetting import Forgetting
from relay.gauges import Gauges
from relay.judge.judge import SourceRules
from relay.kafka.admin import Admin
from relay.kafka.consumer import SourceConsumer
from relay.kafka.log_reader import LogReader
from relay.kafka.producer import TransactionalProducer
from relay.kafka.reaper import Reaper
from relay.kafka.relays import read_open_runs
from relay.kafka.restore import Restorer
from relay.kafka.settings import admin_settings, member_settings, producer_settings, reader_settings
from relay.kafka.try_settings import try_settings
from relay.kafka.watch import Watch
from relay.life import Life, Relays
from relay.loop import Loop, LoopParts
from relay.outbox import Outbox, OutboxLimits
from relay.own_run import OwnRun
from relay.partitions import Partitions
from relay.records import TopicPartition
from relay.rejoining import Rejoining
from relay.telemetry.http import Health
from relay.telemetry.listener import Telemetry
from relay.telemetry.logging import Log
from relay.telemetry.metrics import Metrics
from relay.topics import Layout, check_topics, layout_of

_RELAYS_READ_TIMEOUT_S: Final = 30.0
"""An open transaction of another relay in the relays topic ends within its time-out, 15 s by default."""

_LOG_ENDS_TIMEOUT_S: Final = 5.0
_LOG_ENDS_TRIES: Final = 6
_REAPER_PATIENCE_S: Final = 5.0
"""The dead can wait: what is not answered by then is asked again at the next look."""
_TOPICS_ANSWER_TIMEOUT_S: Final = 2.0
"""Short, so that a stop is heard while nobody answers."""
_ASK_AGAIN_AFTER_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Telemetering:
    """What is told of the relay: its metrics, its probes and its log."""

    metrics: Metrics
    health: Health
    log: Log


class RelayApp:
    """One relay process.

    Args:
        config: The configuration.
        telemetry: Where it tells of itself.
        stopping: Whether a stop was asked for.
        embedded: A layout that is taken as given: the embedded cluster answers no questions about topics or groups.
        fenced: Ends the process from within a rebalance, where raising an error is too late.
        clock: The relay's clock.

    Raises:
        ConfigError: A Kafka client does not take the settings.
    """

    def __init__(
        self,
        config: Config,
        telemetry: Telemetering,
        stopping: Callable[[], bool],
        *,
        embedded: Layout | None = None,
        fenced: Callable[[Fenced], None] = lambda _error: None,
        clock: Clock | None = None,
    ) -> None:
        self._config = config
        self._telemetry = telemetry
        self._stopping = stopping
        self._embedded = embedded
        self._fenced = fenced
        self._clock = clock or SystemClock()
        if embedded is None:
            try_settings(config)
        self._admin = Admin(admin_settings(config))

    def run(self) -> ExitCode:
        """Serve until a stop is asked for, then drain.

        Returns:
            OK, or DRAIN_TIMEOUT where the stop's budget did not suffice.

        Raises:
            StartUpError: The cluster is not as the relay needs it.
            Fenced: A successor has this identity.
            Fatal: The relay cannot go on.
        """
        layout = self._embedded or self._check_cluster()
        if layout is None:
            return ExitCode.OK
        self._layout = layout
        self._join()
        if not self._begin():
            return ExitCode.OK
        self._loop.run(self._stopping, self._between_turns)
        return self._drain()

    def _between_turns(self) -> None:
        """Tell the probes, and do one of the chores that are due."""
        self._telemetry.health.turned()
        self._gauges.tell_readiness()
        self._rejoining.look()
        self._chores.tick()

    def _check_cluster(self) -> Layout | None:
        """Hold the topics against what the relay needs, waiting for a cluster that is itself still starting.

        Returns:
            What follows from the topics; None where a stop was asked for before the cluster answered.
        """
        names = (*self._config.source_topics, *self._config.topics.all())
        deadline_s = self._clock.monotonic_s() + self._config.relay.start_up_timeout / 1000
        topics = None
        while topics is None:
            try:
                left_s = max(0.1, deadline_s - self._clock.monotonic_s())
                topics = self._admin.topic_facts(names, min(left_s, _TOPICS_ANSWER_TIMEOUT_S))
            except NotAnswered as error:
                if self._stopping():
                    return None
                if self._clock.monotonic_s() > deadline_s:
                    fault = f"kafka.bootstrap.servers: expected an answer within relay.start_up_timeout, got: {error}"
                    raise StartUpError([fault]) from error
                self._telemetry.health.turned()
                time.sleep(_ASK_AGAIN_AFTER_S)
        findings = check_topics(self._config, topics)
        for warning in findings.warnings:
            self._telemetry.log.warning("topics.checked", warning=warning)
        if findings.faults:
            raise StartUpError(findings.faults)
        return layout_of(self._config, topics)

    def _join(self) -> None:
        """Join the parts; nothing is sent or read yet."""
        config, clock, names = self._config, self._clock, self._config.topics
        self._own_run = OwnRun(config.relay.name, config.identity, names.unified)
        self._partitions = Partitions(config.source_topics)
        limits = OutboxLimits(self._layout.quarantine_bytes_max, self._layout.record_bytes_max)
        self._outbox = Outbox(names, self._own_run, limits, clock)
        self._producer = self._producer_of(config.identity, config.relay.start_up_timeout / 1000)
        self._life = Life(config, self._own_run, self._outbox, clock, self._relays())
        self._reader = LogReader(reader_settings(config), names.changelog)
        self._member = SourceConsumer(member_settings(config), self._log_ends, self._fenced)
        parts = LoopParts(
            source=self._member,
            sink=self._producer,
            outbox=self._outbox,
            partitions=self._partitions,
            restorer=Restorer(config.source_topics, names.changelog, self._member, self._reader, self._admin, clock),
            listener=Telemetry(self._telemetry.metrics, self._telemetry.log, clock),
            rules=self._rules(),
            unified_topic=names.unified,
            changelog_topic=names.changelog,
            limits=config.relay,
            clock=clock,
            recover=self._life.recover,
            before_commit=self._life.rotate_if_old,
            stage_proof=self._life.prove,
        )
        self._loop = Loop(parts)
        health, metrics = self._telemetry.health, self._telemetry.metrics
        self._gauges = Gauges(metrics, health, self._partitions, self._outbox, self._member, clock)
        self._session_timeout_s = int(member_settings(config)["session.timeout.ms"]) / 1000
        self._rejoining = Rejoining(
            self._partitions, self._member.rejoin, self._session_timeout_s, clock, self._telemetry.log
        )
        self._chores = Chores(clock, self._chore_list(), self._loop.commit)

    def _log_ends(self, entries: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where logs end; asked while partitions are being assigned, so that there is no going on without it."""
        asked = list(entries)
        for _ in range(_LOG_ENDS_TRIES):
            try:
                return self._admin.ends_of(asked, _LOG_ENDS_TIMEOUT_S)
            except NotAnswered:
                self._wait()
        raise Fatal("the cluster did not say where the assigned partitions end")

    def _wait(self) -> None:
        """The cluster is being waited for: tell the probe that we live, and hear a stop."""
        self._telemetry.health.turned()
        if self._stopping():
            raise Interrupted("a stop was asked for")

    def _rules(self) -> dict[str, SourceRules]:
        """How each source is judged."""
        return {
            source.topic: SourceRules.of(
                source.topic,
                own_run_prefix=f"{self._config.relay.name}/",
                record_bytes_max=self._layout.record_bytes_max,
                state_bytes_max=self._layout.state_bytes_max,
                enforce=source.validation == "enforce",
                advance=source.after_refusal == "advance",
                murmur2=self._layout.partition_count if source.partitioner == "murmur2" else 0,
            )
            for source in self._config.sources
        }

    def _chore_list(self) -> list[Chore]:
        """What is done now and then; the embedded cluster answers none of the questions of the last two."""
        forgetting = Forgetting(self._layout, self._partitions, self._outbox, self._loop.commit, self._clock)
        chores = [
            Chore(GAUGES_INTERVAL_S, self._gauges.look),
            Chore(ROTATE_INTERVAL_S, self._rotate),
            Chore(FORGET_INTERVAL_S, forgetting.forget, between_transactions=True),
        ]
        if self._embedded is None:
            watch = Watch(self._config, self._admin, self._layout, self._partitions, self._loop.halt)
            reaper = Reaper(
                self._config,
                self._admin,
                self._partitions,
                lambda: self._read_open_runs(_REAPER_PATIENCE_S),
                lambda identity: self._producer_of(identity, _REAPER_PATIENCE_S),
                self._session_timeout_s,
                self._clock,
                self._telemetry.log,
            )
            chores += [
                Chore(WATCH_INTERVAL_S, watch.look, between_transactions=True),
                Chore(self._session_timeout_s / 2, reaper.look, between_transactions=True),
            ]
        return chores

    def _rotate(self) -> None:
        """Rotate the own run by its age even where nothing else is committed (else the next commit does it)."""
        if not self._producer.in_transaction:
            self._life.rotate_if_old()
            self._loop.commit()

    def _begin(self) -> bool:
        """Take the identity over, open the own run, and only then join the group.

        Returns:
            Whether that was done; False where a stop was asked for before.
        """
        if not self._loop.begin(self._life.begin, self._config.relay.start_up_timeout / 1000, self._stopping):
            if self._stopping():
                return False
            raise Fatal("the own run could not be opened; see the failed transactions before this line")
        opened, left_open = self._own_run.current, self._life.left_open
        self._telemetry.log.info(
            "own_run.opened",
            run_id=opened.run_id if opened else None,
            closed_run_id=left_open.run_id if left_open else None,
        )
        self._member.join(self._config.source_topics, self._loop)
        return True

    def _drain(self) -> ExitCode:
        """Commit what is in hand, end the own run, leave; all of it within the budget."""
        self._telemetry.health.ready("stopping")
        drained = self._loop.drain(self._life.end, self._config.relay.drain_timeout / 1000)
        self._producer.abandon()
        self._member.abandon()
        self._reader.close()
        self._telemetry.log.info("relay.stopped", drained=drained)
        return ExitCode.OK if drained else ExitCode.DRAIN_TIMEOUT

    def _producer_of(self, identity: str, init_timeout_s: float) -> TransactionalProducer:
        largest = max(self._layout.record_bytes_max, self._layout.quarantine_bytes_max)
        return TransactionalProducer(
            producer_settings(self._config, identity, largest, self._layout.batch_bytes_max),
            keep_partition=self._layout.keep_partition,
            init_timeout_s=init_timeout_s,
            call_timeout_s=self._config.relay.transaction_call_timeout / 1000,
            waiting=self._wait,
        )

    def _relays(self) -> Relays:
        return Relays(
            renew=self._producer.renew,
            read=lambda: self._read_open_runs(_RELAYS_READ_TIMEOUT_S),
            glance=lambda: self._read_open_runs(_RELAYS_READ_TIMEOUT_S, "read_uncommitted"),
        )

    def _read_open_runs(self, timeout_s: float, isolation: str = "read_committed") -> dict[str, RelayRun]:
        settings = {**reader_settings(self._config), "isolation.level": isolation}
        return read_open_runs(settings, self._config.topics.relays, self._admin, timeout_s, self._wait)
