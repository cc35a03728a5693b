"""What runs cost and used: each run's own part of it, and totals of any set of runs.

`costUsd` is cumulative within a session, so the maximum counts, even where several runs resumed one session; sessions
are summed. Usage is summed over completions. It must never add unlike units, nor anything twice.

Spec: Run lifecycle
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final, Protocol

from ethogram.envelope import JsonValue

TOKENS: Final = "tokens"
"""The unit of usage that names none."""

_COUNT_NAMES: Final = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session of a harness, as one run saw it.

    Attributes:
        session_id: the harness's own id; None for what the run reported without any.
        model: the model that was named last; None where none was.
        start_count: how many `agent.started` it has in this run.
        completion_count: how many `agent.completed` it has in this run.
        turns: as its last completion that tells has them.
        cost_usd: the highest cost that was seen, in US dollars: the session's so far, not this run's part of it. None
            where none was reported.
        is_estimated: whether that cost is an estimate.
    """

    session_id: str | None
    model: str | None = None
    start_count: int = 0
    completion_count: int = 0
    turns: int | None = None
    cost_usd: float | None = None
    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Usage in one unit. A count is None where nobody reported it, which is not the same as 0.

    Attributes:
        unit: `tokens`, or as the harness names it.
        input_tokens: what was read.
        output_tokens: what was written.
        cache_read_tokens: what was read from a cache.
        cache_creation_tokens: what was written to a cache.
        is_estimated: whether any of it is an estimate.
    """

    unit: str = TOKENS
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    is_estimated: bool = False

    @classmethod
    def read(cls, usage: Mapping[str, JsonValue], *, is_estimated: bool) -> "UsageTotal | None":
        """Read a `usage`, which must be representable; None where it counts nothing.

        Spec: Run lifecycle
        """
        counts = [None if (count := usage.get(name)) is None else int(count) for name in _COUNT_NAMES]
        if all(count is None for count in counts):
            return None
        read, written, cache_read, cache_created = counts
        unit = usage.get("unit", TOKENS)
        return cls(unit, read, written, cache_read, cache_created, is_estimated=is_estimated)

    def plus(self, other: "UsageTotal") -> "UsageTotal":
        """Both together.

        Raises:
            ValueError: they are not of one unit.

        Spec: Run lifecycle
        """
        if self.unit != other.unit:
            raise ValueError("unit: expected usage of one unit, got two")
        return UsageTotal(
            self.unit,
            _plus(self.input_tokens, other.input_tokens),
            _plus(self.output_tokens, other.output_tokens),
            _plus(self.cache_read_tokens, other.cache_read_tokens),
            _plus(self.cache_creation_tokens, other.cache_creation_tokens),
            is_estimated=self.is_estimated or other.is_estimated,
        )


def _plus(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def sum_usage(parts: Iterable[UsageTotal]) -> tuple[UsageTotal, ...]:
    """Add up usage, unit by unit.

    Returns:
        A total for each unit, sorted by its name.

    Spec: Run lifecycle
    """
    totals: dict[str, UsageTotal] = {}
    for part in parts:
        _add_usage(totals, part)
    return _sorted_usage(totals)


def _add_usage(totals: dict[str, UsageTotal], part: UsageTotal) -> None:
    held = totals.get(part.unit)
    totals[part.unit] = part if held is None else held.plus(part)


def _sorted_usage(totals: Mapping[str, UsageTotal]) -> tuple[UsageTotal, ...]:
    return tuple(totals[unit] for unit in sorted(totals))


@dataclass(frozen=True, slots=True)
class Totals:
    """What a set of runs cost and used.

    Attributes:
        run_count: how many runs they are.
        session_count: how many sessions they had, one that several runs resumed counted once.
        cost_usd: US dollars, the sum of each session's highest; None where no session reported any.
        usage: a total for each unit, sorted by its name.
        is_estimated: whether a cost or a usage among them is an estimate.
    """

    run_count: int
    session_count: int
    cost_usd: float | None
    usage: tuple[UsageTotal, ...]
    is_estimated: bool

    @property
    def tokens(self) -> UsageTotal:
        """The usage that is counted in tokens; without counts where there is none."""
        return next((total for total in self.usage if total.unit == TOKENS), UsageTotal())


class Spender(Protocol):
    """What totals need to know of a run."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def harness(self) -> str | None:
        """What it ran in; None where its start was not seen."""
        ...

    @property
    def sessions(self) -> tuple[AgentSession, ...]:
        """Its sessions."""
        ...

    @property
    def usage(self) -> tuple[UsageTotal, ...]:
        """Its usage, by unit."""
        ...


def total_of(runs: Iterable[Spender]) -> Totals:
    """Total any set of runs, each counted once.

    A session is what has one harness and one session id. A run whose start was not seen has no harness; a session of
    it is taken for the one of the same id in the other runs, if those have just one.

    Args:
        runs: runs of one stream, in any order.

    Returns:
        Their totals. They do not depend on the order: costs are added by `math.fsum`, which rounds once, at the end.

    Spec: Run lifecycle
    """
    each = {run.run_id: run for run in runs}
    harnesses: dict[str, set[str]] = {}
    for run in each.values():
        for session in run.sessions:
            if session.session_id is not None and run.harness is not None:
                harnesses.setdefault(session.session_id, set()).add(run.harness)
    costs: dict[tuple[str | None, ...], tuple[float, bool] | None] = {}
    for run in each.values():
        for session in run.sessions:
            key = _session_key(run, session.session_id, harnesses)
            cost = None if session.cost_usd is None else (session.cost_usd, session.is_estimated)
            costs[key] = _highest(costs.get(key), cost)
    known = [cost for cost in costs.values() if cost is not None]
    usage = sum_usage(part for run in each.values() for part in run.usage)
    return Totals(
        len(each),
        len(costs),
        fsum(cost for cost, _is_estimated in known) if known else None,
        usage,
        any(is_estimated for _cost, is_estimated in known) or any(part.is_estimated for part in usage),
    )


def _session_key(run: Spender, session_id: str | None, harnesses: Mapping[str, set[str]]) -> tuple[str | None, ...]:
    if session_id is None:
        return (run.run_id,)  # What a run reported without an id is its own.
    harness = run.harness
    if harness is None and len(harnesses.get(session_id, ())) == 1:
        (harness,) = harnesses[session_id]
    return harness, session_id


def _highest(one: tuple[float, bool] | None, other: tuple[float, bool] | None) -> tuple[float, bool] | None:
    """The higher cost; of two that are equal, the estimate: nobody can say which of the two was meant."""
    return other if one is None else one if other is None else max(one, other)


class _SessionFold:
    """What a run has said of one session so far."""

    __slots__ = ("completion_count", "cost", "model", "start_count", "turns")

    def __init__(self) -> None:
        self.model: str | None = None
        self.start_count = 0
        self.completion_count = 0
        self.turns: int | None = None
        self.cost: tuple[float, bool] | None = None


class SpendingFold:
    """Folds the sessions, costs and usage of one run while its events come."""

    __slots__ = ("_current_id", "_finish_cost", "_finish_usage", "_sessions", "_usage")

    def __init__(self) -> None:
        """Know no session yet."""
        self._sessions: dict[str | None, _SessionFold] = {}
        self._current_id: str | None = None
        self._usage: dict[str, UsageTotal] = {}
        self._finish_cost: tuple[float, bool] | None = None
        self._finish_usage: UsageTotal | None = None

    def start(self, payload: Mapping[str, JsonValue]) -> None:
        """Take an `agent.started`.

        Spec: Agent observation
        """
        self._current_id = payload.get("sessionId")
        session = self._sessions.setdefault(self._current_id, _SessionFold())
        session.start_count += 1
        session.model = payload.get("model", session.model)

    def complete(self, payload: Mapping[str, JsonValue]) -> None:
        """Take an `agent.completed`: of the session it names, else of the one that started last, else of the run's own.

        Spec: Agent observation
        """
        session = self._sessions.setdefault(payload.get("sessionId", self._current_id), _SessionFold())
        session.completion_count += 1
        session.model = payload.get("model", session.model)
        if "turns" in payload:
            session.turns = int(payload["turns"])
        session.cost = _highest(session.cost, _read_cost(payload))
        usage = _read_usage(payload)
        if usage is not None:
            _add_usage(self._usage, usage)

    def finish(self, payload: Mapping[str, JsonValue]) -> None:
        """Take a `run.finished`. Of several, the highest cost and the last usage count.

        Spec: Run lifecycle
        """
        self._finish_cost = _highest(self._finish_cost, _read_cost(payload))
        self._finish_usage = _read_usage(payload)

    def usage(self) -> tuple[UsageTotal, ...]:
        """The run's usage by unit: its completions', else its finish's, for the finish repeats what they said.

        Spec: Run lifecycle
        """
        if self._usage or self._finish_usage is None:
            return _sorted_usage(self._usage)
        return (self._finish_usage,)

    def sessions(self) -> tuple[AgentSession, ...]:
        """The run's sessions in the order of first sight.

        The cost of the finish is one more of the only session where there is one at most. Of several it may be the
        sum: it then counts where none of them reported a cost, as the run's own.

        Spec: Run lifecycle
        """
        costs = {session_id: session.cost for session_id, session in self._sessions.items()}
        if self._finish_cost is not None and len(costs) <= 1:
            session_id = next(iter(costs), None)
            costs[session_id] = _highest(costs.get(session_id), self._finish_cost)
        elif self._finish_cost is not None and not any(costs.values()):
            costs[None] = self._finish_cost
        return tuple(
            _freeze_session(session_id, self._sessions.get(session_id) or _SessionFold(), cost)
            for session_id, cost in costs.items()
        )


def _freeze_session(session_id: str | None, session: _SessionFold, cost: tuple[float, bool] | None) -> AgentSession:
    cost_usd, is_estimated = (None, False) if cost is None else cost
    return AgentSession(
        session_id,
        session.model,
        session.start_count,
        session.completion_count,
        session.turns,
        cost_usd,
        is_estimated=is_estimated,
    )


def _read_cost(payload: Mapping[str, JsonValue]) -> tuple[float, bool] | None:
    cost = payload.get("costUsd")
    return None if cost is None else (float(cost), payload.get("estimated", False))


def _read_usage(payload: Mapping[str, JsonValue]) -> UsageTotal | None:
    return UsageTotal.read(payload.get("usage", {}), is_estimated=payload.get("estimated", False))
