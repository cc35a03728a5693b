"""What is counted: source records with what is known of them, the runs of relays, and the sums."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ethogram import Event
from tests.support.plan import Planned


class Place(NamedTuple):
    """Where a source record stands."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Produced:
    """A source record that was acknowledged, with what is known of it."""

    place: Place
    planned: Planned
    timestamp_ms: int
    cause: str | None
    """Why it must be refused, None if it must be forwarded."""
    finding: str


@dataclass(frozen=True)
class Outputs:
    """The names of the topics that the relay writes, and its own."""

    name: str
    unified: str
    changelog: str
    relays: str
    quarantine: str


@dataclass(frozen=True)
class OwnRun:
    """One run of a relay, with its events in order."""

    run_id: str
    events: tuple[Event, ...]

    @property
    def ending(self) -> Mapping[str, Any] | None:
        """The payload of its `run.finished`, None while it is open."""
        last = self.events[-1]
        return last.payload if last.type == "run.finished" else None

    @property
    def identity(self) -> str:
        """`<name>/<instance>`."""
        return self.run_id.rpartition("/")[0]


@dataclass
class Tally:
    """What was counted and proven."""

    forwarded: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    own_runs: list[OwnRun] = field(default_factory=list)
    """In the order in which they were started."""
    refusals: dict[Place, Mapping[str, Any]] = field(default_factory=dict)
    """The payloads of `capture.refused`."""

    def causes(self) -> Counter[str]:
        """Refusals by cause, over all sources."""
        causes: Counter[str] = Counter()
        for (_topic, cause), count in self.refused.items():
            causes[cause] += count
        return causes

    def endings(self) -> Counter[str]:
        """Own runs by outcome, `open` for those that have none."""
        return Counter("open" if run.ending is None else str(run.ending["outcome"]) for run in self.own_runs)

    def __str__(self) -> str:
        """One line for a test's report."""
        return (
            f"forwarded {self.forwarded.total()}, refused {dict(self.causes())}, findings {self.findings.total()}, "
            f"own runs {dict(self.endings())}"
        )
