"""A seeded stream of runs, right and wrong events among them, for relays that are being disturbed."""

import random

from tests.support.faulty import INVALID, UNREADABLE
from tests.support.plan import Planned, event, finished, started

FAULTS = [INVALID["field_bound"], INVALID["unknown_kind"], UNREADABLE["bad_json"], UNREADABLE["seq_zero"]]


class Load:
    """Gives batches of records for a rig's sources; many runs of each source are open at a time.

    Args:
        rng: The seeded random numbers.
        sources: How many sources.
        records: Records of one source in one batch.
        open_runs: Runs of one source that are open at a time.
    """

    def __init__(self, rng: random.Random, sources: int, records: int = 40, open_runs: int = 20) -> None:
        self._rng = rng
        self._sources = sources
        self._records = records
        self._made = 0
        self._open: list[dict[str, int]] = [{} for _ in range(sources)]
        self._open_runs = open_runs
        self.ended: list[list[tuple[str, int]]] = [[] for _ in range(sources)]
        """By source, runs that are finished, with the `seq` that would come next."""

    def __call__(self, _number: int) -> dict[int, list[Planned]]:
        """The next batch, by source number."""
        return {source: [self._next(source) for _ in range(self._records)] for source in range(self._sources)}

    def rest(self) -> dict[int, list[Planned]]:
        """The ends of all runs that are still open, by source number."""
        return {
            source: [self._end(source, run_id) for run_id in list(self._open[source])]
            for source in range(self._sources)
        }

    def _next(self, source: int) -> Planned:
        rng, runs = self._rng, self._open[source]
        if len(runs) < self._open_runs:
            self._made += 1
            run_id = f"source{source}-run{self._made}"
            runs[run_id] = 2
            return started(run_id)
        run_id = rng.choice(list(runs))
        seq, drawn = runs[run_id], rng.random()
        if drawn < 0.02:
            return rng.choice(FAULTS)(run_id, seq)  # Followed by the right one: the producer mends it.
        if drawn < 0.04:
            return event(run_id, max(1, seq + rng.choice([-1, 1, 3])))
        if drawn < 0.10:
            return self._end(source, run_id)
        runs[run_id] = seq + 1
        return event(run_id, seq)

    def _end(self, source: int, run_id: str) -> Planned:
        seq = self._open[source].pop(run_id)
        self.ended[source].append((run_id, seq + 1))
        return finished(run_id, seq)
