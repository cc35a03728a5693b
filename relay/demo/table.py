"""Shows the relay at work: a live table on a terminal, a plain line now and then elsewhere."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from relay.clock import Clock
from relay.judge.verdict import Cause
from relay.telemetry.metrics import PREFIX, Metrics

_RATE_OVER_S: Final = 1.0
_PLAIN_EVERY_S: Final = 2.0
_REFRESH_PER_S: Final = 8


@dataclass(frozen=True, slots=True)
class Counts:
    """What one source, or all of them, came to so far."""

    consumed: int
    forwarded: int
    refused: dict[Cause, int]


class Display:
    """Shows counts while a `with` block runs.

    Args:
        console: Where.
        metrics: The relay's metrics.
        sources: The source topics.
        clock: Measures the rate.
        title: What stands above the table.
    """

    def __init__(self, console: Console, metrics: Metrics, sources: Sequence[str], clock: Clock, title: str) -> None:
        self._console = console
        self._metrics = metrics
        self._sources = tuple(sources)
        self._clock = clock
        self._title = title
        self._stack = ExitStack()
        self._live: Live | None = None
        self._started_s = clock.monotonic_s()
        self._told_s = self._started_s
        self._seen: list[tuple[float, dict[str, int]]] = []

    def __enter__(self) -> Self:
        """Begin; the table stays where it is at the end."""
        if self._console.is_terminal:
            live = Live(console=self._console, refresh_per_second=_REFRESH_PER_S, transient=False)
            self._live = self._stack.enter_context(live)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """Show the last state and let go."""
        self.show(last=True)
        self._stack.close()

    def counts(self) -> dict[str, Counts]:
        """What each source came to, in committed transactions."""
        return {source: self._counts(source) for source in self._sources}

    def show(self, *, last: bool = False) -> None:
        """Show how it stands.

        Args:
            last: Whether this is the end, which a plain line tells whenever the one before it was.
        """
        now_s, counts = self._clock.monotonic_s(), self.counts()
        rates = self._rates(now_s, counts)
        if self._live is not None:
            self._live.update(self._table(counts, rates))
        elif last or now_s - self._told_s >= _PLAIN_EVERY_S:
            self._told_s = now_s
            self._console.print(self._line(now_s, counts, rates), highlight=False, soft_wrap=True)

    def _counts(self, source: str) -> Counts:
        value = self._metrics.registry.get_sample_value
        refused = {
            cause: int(value(f"{PREFIX}records_refused_total", {"source": source, "cause": cause.value}) or 0)
            for cause in Cause
        }
        return Counts(
            int(value(f"{PREFIX}records_consumed_total", {"source": source}) or 0),
            int(value(f"{PREFIX}records_forwarded_total", {"source": source}) or 0),
            refused,
        )

    def _rates(self, now_s: float, counts: dict[str, Counts]) -> dict[str, float]:
        """Events a second by source, over the last second or so."""
        consumed = {source: count.consumed for source, count in counts.items()}
        self._seen.append((now_s, consumed))
        while len(self._seen) > 1 and now_s - self._seen[1][0] >= _RATE_OVER_S:
            self._seen.pop(0)
        then_s, before = self._seen[0]
        over_s = now_s - then_s
        return {source: (consumed[source] - before[source]) / over_s if over_s else 0.0 for source in consumed}

    def _table(self, counts: dict[str, Counts], rates: dict[str, float]) -> Table:
        # No borders: all of it fits 80 columns.
        table = Table(title=self._title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        table.padding = (0, 2, 0, 0)
        table.add_column("source", no_wrap=True)
        table.add_column("forwarded", justify="right", style="green")
        for cause in Cause:
            table.add_column(cause.value, justify="right", style="yellow")
        table.add_column("events/s", justify="right")
        for source, count in counts.items():
            refused = [str(count.refused[cause]) for cause in Cause]
            table.add_row(source.rpartition(".")[2], str(count.forwarded), *refused, f"{rates[source]:.0f}")
        forwarded, by_cause = _totals(counts)
        totals = [str(by_cause[cause]) for cause in Cause]
        table.add_row("all", str(forwarded), *totals, f"{sum(rates.values()):.0f}", style="bold")
        return table

    def _line(self, now_s: float, counts: dict[str, Counts], rates: dict[str, float]) -> str:
        forwarded, by_cause = _totals(counts)
        causes = ", ".join(f"{cause.value} {count}" for cause, count in by_cause.items())
        return (
            f"after {now_s - self._started_s:.0f} s: {forwarded} forwarded, {sum(by_cause.values())} refused "
            f"({causes}), {sum(rates.values()):.0f} events/s"
        )


def _totals(counts: dict[str, Counts]) -> tuple[int, dict[Cause, int]]:
    by_cause = {cause: sum(count.refused[cause] for count in counts.values()) for cause in Cause}
    return sum(count.forwarded for count in counts.values()), by_cause
