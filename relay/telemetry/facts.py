"""What one transaction did, counted while it is staged and told to the metrics only once it is committed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from relay.records import SourceRecord

_TIMESTAMP, _VALUE, _HEADERS = itemgetter(3), itemgetter(5), itemgetter(6)
"""Fields of a `SourceRecord` by place: passed over at the interpreter's own speed, once a record."""


@dataclass(slots=True)
class Batch:
    """Counts of one transaction. Sources are topic names, causes and kinds members of closed sets."""

    forwarded: Counter[str] = field(default_factory=Counter)
    """Records by source."""
    forwarded_bytes: Counter[str] = field(default_factory=Counter)
    """Value bytes by source."""
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records by source and cause."""
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Validation errors that were reported and forwarded, by source and kind."""
    altered: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Forwarded records that the client cannot repeat to the letter, by source and what differs."""
    oldest_ms: dict[str, int] = field(default_factory=dict)
    """The first record's timestamp by source, milliseconds since the epoch."""

    refused_bytes: int = 0
    """Value bytes of the refused records, which go to the quarantine whole."""

    @property
    def bytes_count(self) -> int:
        """How many value bytes the transaction carries."""
        return self.forwarded_bytes.total() + self.refused_bytes

    @property
    def record_count(self) -> int:
        """How many source records were judged."""
        return self.forwarded.total() + self.refused.total()

    def count_forwarded(self, records: Iterable[SourceRecord]) -> None:
        """Count records that are forwarded; each has a value."""
        for topic, group in groupby(records, key=itemgetter(0)):
            chunk = list(group)
            # A source's records come in order, so the first is the oldest, or near it.
            self.oldest_ms.setdefault(topic, chunk[0].timestamp_ms)
            self.forwarded[topic] += len(chunk)
            self.forwarded_bytes[topic] += sum(map(len, map(_VALUE, chunk)))
            if any(map(_HEADERS, chunk)) or not all(map(_TIMESTAMP, chunk)):
                self._count_altered(topic, chunk)

    def _count_altered(self, topic: str, records: list[SourceRecord]) -> None:
        for record in records:
            self.altered[topic, "timestamp_zero"] += not record.timestamp_ms
            self.altered[topic, "header_name_nul"] += any("\0" in name for name, _content in record.headers or ())

    def count_refused(self, record: SourceRecord, cause: str) -> None:
        """Count a record that is refused."""
        self.refused[record.topic, cause] += 1
        self.refused_bytes += len(record.value or b"")
        self.oldest_ms[record.topic] = min(record.timestamp_ms, self.oldest_ms.get(record.topic, record.timestamp_ms))

    def count_finding(self, source: str, kind: str) -> None:
        """Count a validation error that was reported and forwarded."""
        self.findings[source, kind] += 1
