"""Ends the own runs of identities that will not come back.

Only the owner of partition 0 does so, for identities that were missing from the group for over two session time-outs,
and by `init_transactions` under their identity: one that is alive after all is fenced, and says so by its exit code.
"""

from collections.abc import Callable, Mapping
from typing import Final

from relay.clock import Clock
from relay.codec import RelayRun
from relay.config import Config
from relay.errors import NotAnswered, RelayError
from relay.kafka.admin import Admin
from relay.kafka.producer import TransactionalProducer
from relay.life import LEFT_OPEN_REASON
from relay.outbox import relays_entry
from relay.own_run import OwnRun
from relay.partitions import Partitions
from relay.telemetry.logging import Log

_ANSWER_TIMEOUT_S: Final = 2.0
_SESSIONS_GONE: Final = 2
DUTY_PARTITION: Final = 0
"""Its owner does this for the whole group."""


class Reaper:
    """Looks for the dead now and then.

    Args:
        config: The configuration.
        admin: Knows the group's members.
        partitions: Whether the duty is ours.
        read_open_runs: Reads identity to open own run.
        producer_of: Makes a producer of an identity, not yet initialised.
        session_timeout_s: The group's session time-out, seconds.
        clock: The relay's clock.
        log: The structured log.
    """

    def __init__(
        self,
        config: Config,
        admin: Admin,
        partitions: Partitions,
        read_open_runs: Callable[[], Mapping[str, RelayRun]],
        producer_of: Callable[[str], TransactionalProducer],
        session_timeout_s: float,
        clock: Clock,
        log: Log,
    ) -> None:
        self._config = config
        self._admin = admin
        self._partitions = partitions
        self._read_open_runs = read_open_runs
        self._producer_of = producer_of
        self._gone_max_s = _SESSIONS_GONE * session_timeout_s
        self._clock = clock
        self._log = log
        self._gone_since_s: dict[tuple[str, str], float] = {}

    def look(self) -> None:
        """Look who is gone, and end the runs of those who are gone for long enough."""
        if DUTY_PARTITION not in self._partitions.running:
            self._gone_since_s.clear()
            return
        try:
            members = self._admin.group_instances(self._config.relay.name, _ANSWER_TIMEOUT_S)
            runs = self._read_open_runs() if members is not None else {}
        except NotAnswered:
            return
        if members is None:
            return
        gone = {(identity, run.run_id) for identity, run in runs.items() if not self._is_present(identity, members)}
        now_s = self._clock.monotonic_s()
        # By run, too: one that came back and opened its next run is not gone, even before it has joined the group.
        self._gone_since_s = {life: self._gone_since_s.get(life, now_s) for life in gone}
        overdue = [life for life, since_s in self._gone_since_s.items() if now_s - since_s > self._gone_max_s]
        for identity, run_id in overdue[:1]:  # one a look: each takes the loop's time
            self._end(identity, run_id)

    def _is_present(self, identity: str, members: set[str]) -> bool:
        name, _slash, instance = identity.partition("/")
        return name != self._config.relay.name or instance in members or identity == self._config.identity

    def _end(self, identity: str, run_id: str) -> None:
        producer = self._producer_of(identity)
        try:
            producer.renew()
            # Only now is it settled what that identity's last transaction did.
            run = self._read_open_runs().get(identity)
            if run is None or run.run_id != run_id:
                return
            topics = self._config.topics
            now_ms = self._clock.now_ms()
            own = OwnRun(self._config.relay.name, identity, topics.unified)
            own.adopt(run)
            finished = own.close("failed", LEFT_OPEN_REASON, now_ms)
            closed = relays_entry(topics.relays, identity, own.staged, now_ms)
            producer.begin()
            producer.write([finished, closed], topics.changelog)
            producer.commit({}, None, _ANSWER_TIMEOUT_S)
            self._log.info("own_run.closed", run_id=run.run_id, identity=identity, reason=LEFT_OPEN_REASON)
        except RelayError as error:
            # It came back, or the cluster is slow: either way this relay goes on, and looks again later.
            self._log.warning("own_run.not_closed", identity=identity, reason=str(error))
        finally:
            producer.abandon()
