"""The life of the own run: begun at the start, rotated with age, ended at a stop, and ended for the dead.

An own run belongs to one transactional identity and process life. Whoever next has the identity ends the run that
was left open, with what the relays topic says of it.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relay.clock import Clock
from relay.codec import RelayRun
from relay.config import Config
from relay.errors import Fatal, Fenced, NotAnswered
from relay.outbox import Outbox, relays_entry
from relay.own_run import OwnRun

LEFT_OPEN_REASON = "the process ended without closing its run"
ROTATED_REASON = "rotated by age"
STOPPED_REASON = "stopped"


@dataclass(frozen=True, slots=True)
class Relays:
    """What a life asks of the cluster."""

    renew: Callable[[], None]
    """Takes the identity over, settling whatever it left open."""
    read: Callable[[], Mapping[str, RelayRun]]
    """Reads identity to open own run, as committed. Raises `NotAnswered`."""
    glance: Callable[[], Mapping[str, RelayRun]]
    """Reads the same with what is not committed (yet), and so waits for no transaction. Raises `NotAnswered`."""


class Life:
    """Stages the own run's lifecycle events; the loop commits them.

    Args:
        config: The configuration.
        own_run: The own run's state.
        outbox: Where its events are staged.
        clock: The relay's clock.
        relays: Takes the identity over and reads the relays topic.
    """

    def __init__(
        self,
        config: Config,
        own_run: OwnRun,
        outbox: Outbox,
        clock: Clock,
        relays: Relays,
    ) -> None:
        self._prefix = config.identity
        self._relays_topic = config.topics.relays
        self._max_age_ms = config.relay.own_run_max_age
        self._own_run = own_run
        self._outbox = outbox
        self._clock = clock
        self._relays = relays
        self.left_open: RelayRun | None = None
        """The run that was found open at the start, None where there was none."""
        self._own_run_ids: set[str] = set()
        """Every run of this process life: one a day by default."""

    def begin(self) -> None:
        """Stage the end of the run that was left open, if one was, and the start of a new one."""
        self._outbox.dropped()
        self._relays.renew()
        found = self._read()
        self._own_run.adopt(found)
        if found is not None and found.run_id in self._own_run_ids:
            return
        now_ms = self._clock.now_ms()
        if found is not None:
            self._outbox.stage_own(self._own_run.close("failed", LEFT_OPEN_REASON, now_ms))
            self.left_open = found
        self._open(now_ms)

    def recover(self) -> None:
        """After a transaction of unknown outcome: go on with what the relays topic says is true.

        Raises:
            Fenced: A successor has begun its own run under this identity; it is not taken back.
        """
        # Uncommitted: the transaction in doubt may be open in that topic, and must not be waited for.
        glanced = self._answered(self._relays.glance).get(self._own_run.identity)
        if glanced is not None and glanced.run_id not in self._own_run_ids:
            raise Fenced(f"{self._own_run.identity}: a successor has begun the run {glanced.run_id}")
        self.begin()

    def prove(self) -> None:
        """Stage the relays entry as it is: committing it changes nothing, and is refused to a fenced identity."""
        run = self._own_run.current
        if run is not None:
            self._outbox.stage_own(relays_entry(self._relays_topic, self._own_run.identity, run, self._clock.now_ms()))

    def rotate_if_old(self) -> None:
        """Stage the end of a run past its age and the start of a new one, so that retention never cuts off a start."""
        run, now_ms = self._own_run.staged, self._clock.now_ms()
        if run is not None and now_ms - run.started_ms >= self._max_age_ms:
            self._outbox.stage_own(self._own_run.close("completed", ROTATED_REASON, now_ms))
            self._open(now_ms)

    def end(self) -> None:
        """Stage the end of the run at a clean stop."""
        if self._own_run.staged is not None:
            self._outbox.stage_own(self._own_run.close("completed", STOPPED_REASON, self._clock.now_ms()))

    def _read(self) -> RelayRun | None:
        """The identity's open run."""
        return self._answered(self._relays.read).get(self._own_run.identity)

    @staticmethod
    def _answered(read: Callable[[], Mapping[str, RelayRun]]) -> Mapping[str, RelayRun]:
        try:
            return read()
        except NotAnswered as error:
            raise Fatal(str(error)) from error

    def _open(self, now_ms: int) -> None:
        run_id = f"{self._prefix}/{uuid.uuid4()}"
        self._own_run_ids.add(run_id)
        self._outbox.stage_own(self._own_run.open(run_id, now_ms))
