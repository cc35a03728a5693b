"""What the topics must be like, as pure rules over what the cluster says of them.

Every finding names the topic, what is wanted, what is there, and so what to change. Faults stop the relay; warnings
are said and lived with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from relay.config import Config, RelaySection
from relay.outbox import QUARANTINE_ENVELOPE_BYTES_MAX

RELAYS_PARTITION_COUNT: Final = 1
QUARANTINE_RETENTION_MS: Final = 30 * 86_400_000
"""It holds what was refused, secrets included: kept for 30 days, then gone."""
_RETENTION_DEFAULT_MS: Final = 604_800_000
_SEGMENT_DEFAULT_MS: Final = 604_800_000
_RECORD_BYTES_DEFAULT: Final = 1_048_588
_FOREVER_MS: Final = 9_223_372_036_854_775_807
_TOMBSTONES_MIN_MS: Final = 2 * 3_600_000
"""Twice what `relay.partitions.KEPT_STATE_MAX_S` relies on."""
_TRANSACTIONS_QUEUED_MIN: Final = 3


class Topic(Protocol):
    """What the rules ask of one topic."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def topic_id(self) -> str:
        """Its id."""
        ...

    @property
    def partition_count(self) -> int:
        """How many partitions it has."""
        ...

    @property
    def replication_factor(self) -> int:
        """Replicas of its least replicated partition."""
        ...

    @property
    def settings(self) -> dict[str, str]:
        """Its settings, by name."""
        ...

    @property
    def operations(self) -> frozenset[str] | None:
        """What this client may do with it, None where the cluster does not say."""
        ...

    def number(self, setting: str, default: int) -> int:
        """A numeric setting."""
        ...


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with the topics."""

    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the relay takes from topics that are as they must be."""

    partition_count: int
    """Partitions of every source and of the changelog."""
    keep_partition: bool
    """Whether the unified topic has as many, so that a record keeps its number."""
    record_bytes_max: int
    """The largest record, as a batch of one, that the unified topic takes."""
    state_bytes_max: int
    """The largest record, as a batch of one, that the changelog takes."""
    quarantine_bytes_max: int
    """The largest record that the quarantine takes."""
    batch_bytes_max: int
    """The smallest `max.message.bytes` of all outputs."""
    forget_finished_ms: int | None
    """When finished runs are forgotten; None for never."""
    forget_idle_ms: int | None
    """When open runs are forgotten; None for never."""


def check_topics(config: Config, topics: Mapping[str, Topic | None]) -> Findings:
    """Hold the topics against what the relay needs.

    Args:
        config: The configuration.
        topics: Name to what the cluster says, None for a topic that is not there.

    Returns:
        Faults and warnings.
    """
    findings = Findings()
    missing = [name for name, topic in topics.items() if topic is None]
    findings.faults.extend(
        f"{name}: expected the topic to exist; create it (`ethogram-relay topics create` makes the relay's own)"
        for name in missing
    )
    there = {name: topic for name, topic in topics.items() if topic is not None}
    sources = [there[name] for name in config.source_topics if name in there]
    _check_counts(config, sources, there, findings)
    for source in sources:
        _check_source(source, findings)
    _check_unified(config, sources, there, findings)
    _check_compacted(config, sources, there, findings)
    _check_quarantine(config, sources, there, findings)
    _check_outputs(config, sources, there, findings)
    _check_queue(config, findings)
    return findings


def layout_of(config: Config, topics: Mapping[str, Topic | None]) -> Layout:
    """Take what the relay needs from topics that `check_topics` found no fault with."""
    names = config.topics
    outputs = {name: topic for name in names.all() if (topic := topics[name]) is not None}
    sources = [topic for name in config.source_topics if (topic := topics[name]) is not None]
    unified = outputs[names.unified]
    retentions = [_kept_ms(topic) for topic in (*sources, unified)]
    return Layout(
        partition_count=sources[0].partition_count,
        keep_partition=unified.partition_count == sources[0].partition_count,
        record_bytes_max=unified.number("max.message.bytes", _RECORD_BYTES_DEFAULT),
        state_bytes_max=outputs[names.changelog].number("max.message.bytes", _RECORD_BYTES_DEFAULT),
        quarantine_bytes_max=outputs[names.quarantine].number("max.message.bytes", _RECORD_BYTES_DEFAULT),
        batch_bytes_max=min(topic.number("max.message.bytes", _RECORD_BYTES_DEFAULT) for topic in outputs.values()),
        forget_finished_ms=_horizon(config.relay.forget_finished_after, retentions),
        forget_idle_ms=_horizon(config.relay.forget_idle_after, retentions),
    )


def settings_for(config: Config, topic: str, sources: list[Topic]) -> dict[str, str]:
    """The settings with which `topics create` makes one of the relay's own topics.

    Args:
        config: The configuration.
        topic: One of `config.topics`.
        sources: The source topics that are there.
    """
    names = config.topics
    record_bytes = max((s.number("max.message.bytes", _RECORD_BYTES_DEFAULT) for s in sources), default=0)
    record_bytes = max(record_bytes, _RECORD_BYTES_DEFAULT)
    timestamps = {
        "message.timestamp.type": "CreateTime",
        "message.timestamp.before.max.ms": str(_FOREVER_MS),
        "message.timestamp.after.max.ms": str(_FOREVER_MS),
    }
    if topic == names.unified:
        return {"cleanup.policy": "delete", "max.message.bytes": str(record_bytes), **timestamps}
    if topic == names.quarantine:
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(QUARANTINE_RETENTION_MS),
            "max.message.bytes": str(record_bytes + QUARANTINE_ENVELOPE_BYTES_MAX),
        }
    if topic == names.changelog:
        return {"cleanup.policy": "compact", "max.message.bytes": str(record_bytes)}
    return {"cleanup.policy": "compact"}


def _kept_ms(topic: Topic) -> int:
    """How long a topic may hold a record: whole segments are deleted, so up to a segment's age longer than it says."""
    retention_ms = topic.number("retention.ms", _RETENTION_DEFAULT_MS)
    return retention_ms if retention_ms < 0 else retention_ms + topic.number("segment.ms", _SEGMENT_DEFAULT_MS)


def _horizon(wanted_ms: int, retentions: list[int]) -> int | None:
    """Forget no earlier than the longest retention: until then, a run's old events may still be read anew."""
    return None if min(retentions) < 0 else max(wanted_ms, *retentions)


def _check_counts(config: Config, sources: list[Topic], there: Mapping[str, Topic], findings: Findings) -> None:
    counts = {source.name: source.partition_count for source in sources}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        findings.faults.append(f"sources: expected one partition count for all, got {said}; state is kept per number")
    changelog = there.get(config.topics.changelog)
    if changelog and counts and changelog.partition_count not in counts.values():
        wanted = next(iter(counts.values()))
        findings.faults.append(
            f"{changelog.name}: expected {wanted} partitions, as the sources have, got {changelog.partition_count}; "
            "make the topic anew before the first start"
        )
    relays = there.get(config.topics.relays)
    if relays and relays.partition_count != RELAYS_PARTITION_COUNT:
        findings.faults.append(
            f"{relays.name}: expected {RELAYS_PARTITION_COUNT} partition, got {relays.partition_count}"
        )


def _check_policy(topic: Topic, wanted: str, otherwise: str, findings: Findings) -> None:
    """Hold `cleanup.policy` to exactly one of its two members."""
    policy = topic.settings.get("cleanup.policy", "delete")
    if policy != wanted:
        findings.faults.append(f"{topic.name}: expected cleanup.policy={wanted}, got {policy}; {otherwise}")


def _check_source(source: Topic, findings: Findings) -> None:
    _check_policy(source, "delete", "compaction by runId would take events out of runs before they are read", findings)
    _need(source, "READ", findings)


def _check_unified(config: Config, sources: list[Topic], there: Mapping[str, Topic], findings: Findings) -> None:
    unified = there.get(config.topics.unified)
    if unified is None:
        return
    _check_policy(unified, "delete", "compaction by runId would leave one event of each run", findings)
    if unified.settings.get("message.timestamp.type", "CreateTime") != "CreateTime":
        findings.faults.append(
            f"{unified.name}: expected message.timestamp.type=CreateTime, so that records keep theirs, got "
            f"{unified.settings['message.timestamp.type']}"
        )
    for setting in ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms"):
        limit = unified.number(setting, _FOREVER_MS)
        for source in sources:
            if source.number(setting, _FOREVER_MS) > limit:
                findings.faults.append(
                    f"{unified.name}: expected {setting} of at least {source.number(setting, _FOREVER_MS)}, as "
                    f"{source.name} has, got {limit}; one record beyond it fails its whole batch"
                )
    retention_ms = unified.number("retention.ms", _RETENTION_DEFAULT_MS)
    for source in sources:
        kept_ms = source.number("retention.ms", _RETENTION_DEFAULT_MS)
        if retention_ms >= 0 and (kept_ms < 0 or kept_ms > retention_ms):
            findings.warnings.append(
                f"{unified.name}: retention.ms {retention_ms} is shorter than that of {source.name} ({kept_ms}); "
                "records keep their CreateTime, so old events may vanish from it at once"
            )
    _warn_of_size(unified, sources, findings)


def _warn_of_size(output: Topic, sources: list[Topic], findings: Findings) -> None:
    """Warn where records (or, in the changelog, run ids) of the sources may not fit."""
    largest = max((s.number("max.message.bytes", _RECORD_BYTES_DEFAULT) for s in sources), default=0)
    if output.number("max.message.bytes", _RECORD_BYTES_DEFAULT) < largest:
        findings.warnings.append(
            f"{output.name}: max.message.bytes is smaller than a source's {largest}; larger records are refused as "
            "over_bound"
        )


def _check_compacted(config: Config, sources: list[Topic], there: Mapping[str, Topic], findings: Findings) -> None:
    for name in (config.topics.changelog, config.topics.relays):
        topic = there.get(name)
        if topic is None:
            continue
        _check_policy(topic, "compact", "state must not vanish by age", findings)
        if topic.number("delete.retention.ms", 86_400_000) < _TOMBSTONES_MIN_MS:
            got = topic.number("delete.retention.ms", 0)
            findings.faults.append(f"{name}: expected delete.retention.ms of at least {_TOMBSTONES_MIN_MS}, got {got}")
        if name == config.topics.changelog:
            _warn_of_size(topic, sources, findings)


def _check_quarantine(config: Config, sources: list[Topic], there: Mapping[str, Topic], findings: Findings) -> None:
    quarantine = there.get(config.topics.quarantine)
    if quarantine is None:
        return
    _check_policy(quarantine, "delete", "compaction would lose refused records", findings)
    kept_ms = quarantine.number("retention.ms", _RETENTION_DEFAULT_MS)
    if not 0 <= kept_ms <= QUARANTINE_RETENTION_MS:
        findings.warnings.append(
            f"{quarantine.name}: retention.ms {kept_ms} is longer than {QUARANTINE_RETENTION_MS}; it holds what was "
            "refused, secrets included"
        )
    largest = max((s.number("max.message.bytes", _RECORD_BYTES_DEFAULT) for s in sources), default=0)
    wanted = largest + QUARANTINE_ENVELOPE_BYTES_MAX
    if quarantine.number("max.message.bytes", _RECORD_BYTES_DEFAULT) < wanted:
        findings.faults.append(
            f"{quarantine.name}: expected max.message.bytes of at least {wanted} (the largest source record and its "
            f"envelope), got {quarantine.number('max.message.bytes', _RECORD_BYTES_DEFAULT)}"
        )


def _check_outputs(config: Config, sources: list[Topic], there: Mapping[str, Topic], findings: Findings) -> None:
    replicas = max((source.replication_factor for source in sources), default=1)
    for name in config.topics.all():
        topic = there.get(name)
        if topic is None:
            continue
        _need(topic, "WRITE", findings)
        insync = topic.number("min.insync.replicas", 1)
        if insync > topic.replication_factor:
            findings.faults.append(
                f"{name}: expected min.insync.replicas of at most its {topic.replication_factor} replicas, got {insync}"
                "; nothing could be written"
            )
        if topic.replication_factor < replicas:
            findings.warnings.append(f"{name}: {topic.replication_factor} replicas, the sources have {replicas}")
        if topic.replication_factor > 2 and insync < 2:  # noqa: PLR2004 - one broker lost must not lose what is committed
            findings.warnings.append(f"{name}: min.insync.replicas is {insync}; 2 keeps a commit when a broker is lost")


def _need(topic: Topic, operation: str, findings: Findings) -> None:
    if topic.operations is not None and not {operation, "ALL"} & topic.operations:
        findings.faults.append(f"{topic.name}: expected the right to {operation} it; grant it to the relay's principal")


def _check_queue(config: Config, findings: Findings) -> None:
    """The client's queue must hold several transactions, or producing stalls in the middle of one."""
    relay: RelaySection = config.relay
    limits = (
        ("queue.buffering.max.messages", relay.commit_records_max, 1),
        ("queue.buffering.max.kbytes", relay.commit_bytes_max, 1024),
    )
    for setting, bound, unit in limits:
        value = config.kafka.get(setting)
        wanted = bound * _TRANSACTIONS_QUEUED_MIN // unit
        if value is not None and int(value) < wanted:
            findings.faults.append(
                f"kafka.{setting}: expected at least {wanted} ({_TRANSACTIONS_QUEUED_MIN} transactions), got {value}"
            )
