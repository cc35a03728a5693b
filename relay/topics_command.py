"""`ethogram-relay topics create|check`: make the topics, or say what is wrong with them, without starting a relay."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO

from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]  # public; its stub does not re-export it

from relay.config import Config, load_config
from relay.errors import ConfigError, Fatal, NotAnswered, StartUpError
from relay.exit_codes import ExitCode
from relay.kafka.admin import Admin, TopicFacts
from relay.kafka.hashing import sources_that_hash_otherwise
from relay.kafka.settings import admin_settings, reader_settings
from relay.kafka.try_settings import try_settings
from relay.topics import RELAYS_PARTITION_COUNT, check_topics, settings_for

_ANSWER_TIMEOUT_S: Final = 30.0
_CREATION_SHOWS_S: Final = 10.0


def create_topics(
    path: Path, environment: Mapping[str, str], out: TextIO, replication_factor: int, source_partitions: int | None
) -> ExitCode:
    """Create what is missing, then check.

    Args:
        path: The configuration file.
        environment: The process environment.
        out: Where findings are written.
        replication_factor: Replicas of each topic; -1 for the cluster's default.
        source_partitions: Partitions of source topics that are created; None creates no source topics.

    Returns:
        OK, FOUND where a fault is left, or the code of what went wrong.
    """
    try:
        config = load_config(path, environment)
        try_settings(config)
        admin = Admin(admin_settings(config))
        facts = admin.topic_facts(_names(config), _ANSWER_TIMEOUT_S)
        wanted = _missing(config, facts, replication_factor, source_partitions)
        failures = admin.create(wanted, _ANSWER_TIMEOUT_S) if wanted else {}
    except (ConfigError, StartUpError, Fatal, NotAnswered) as error:
        return _failed(error, out)
    out.writelines(
        f"{topic.topic}: {failures.get(topic.topic, f'created, {topic.num_partitions} partitions')}\n"
        for topic in wanted
    )
    return check_cluster_topics(path, environment, out)


def check_cluster_topics(path: Path, environment: Mapping[str, str], out: TextIO) -> ExitCode:
    """Hold the topics against what the relay needs.

    Args:
        path: The configuration file.
        environment: The process environment.
        out: Where findings are written, one a line: `fault:` or `warning:`, the topic, what is wanted, what is there.

    Returns:
        OK, FOUND where there is a fault, or the code of what went wrong.
    """
    try:
        config = load_config(path, environment)
        try_settings(config)
        facts = Admin(admin_settings(config)).topic_facts(_names(config), _ANSWER_TIMEOUT_S)
        findings = check_topics(config, facts)
        if not findings.faults:
            findings.warnings.extend(sources_that_hash_otherwise(config, facts, reader_settings(config)))
    except (ConfigError, StartUpError, Fatal, NotAnswered) as error:
        return _failed(error, out)
    out.writelines(f"fault: {fault}\n" for fault in findings.faults)
    out.writelines(f"warning: {warning}\n" for warning in findings.warnings)
    out.write(f"topics: {len(findings.faults)} faults, {len(findings.warnings)} warnings\n")
    return ExitCode.FOUND if findings.faults else ExitCode.OK


def _names(config: Config) -> tuple[str, ...]:
    return (*config.source_topics, *config.topics.all())


def _missing(
    config: Config, facts: Mapping[str, TopicFacts | None], replication_factor: int, source_partitions: int | None
) -> list[NewTopic]:
    sources = [source for name in config.source_topics if (source := facts[name]) is not None]
    counts = {source.partition_count for source in sources}
    if not counts and source_partitions is None:
        raise StartUpError(["sources: expected at least one source topic to exist, got none; or use --sources"])
    count = counts.pop() if counts else int(source_partitions or 0)
    missing = [
        NewTopic(name, num_partitions=count, replication_factor=replication_factor)
        for name in config.source_topics
        if facts[name] is None and source_partitions is not None
    ]
    for name in config.topics.all():
        if facts[name] is None:
            partitions = RELAYS_PARTITION_COUNT if name == config.topics.relays else count
            settings = settings_for(config, name, list(sources))
            topic = NewTopic(name, num_partitions=partitions, replication_factor=replication_factor, config=settings)
            missing.append(topic)
    return missing


def _failed(error: Exception, out: TextIO) -> ExitCode:
    faults = error.faults if isinstance(error, ConfigError | StartUpError) else [str(error)]
    out.writelines(f"fault: {fault}\n" for fault in faults)
    if isinstance(error, ConfigError):
        return ExitCode.CONFIGURATION
    return ExitCode.STARTUP if isinstance(error, StartUpError) else ExitCode.FATAL
