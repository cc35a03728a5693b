"""Says which sources do not spread runs over partitions as the Java client does, by looking at what they hold.

One run in two sources is noticed only where both sources put it into the same partition number.
"""

import time
from collections.abc import Mapping
from typing import Any, Final

from relay.config import Config
from relay.judge.partitioner import murmur2_partition
from relay.kafka.admin import TopicFacts
from relay.kafka.log_reader import LogReader, LogRecord

_RECORDS_LOOKED_AT: Final = 1000
_PATIENCE_S: Final = 2.0
_READ_TIMEOUT_S: Final = 0.2


def sources_that_hash_otherwise(
    config: Config, facts: Mapping[str, TopicFacts | None], settings: dict[str, Any]
) -> list[str]:
    """Look at the first records of each source.

    Args:
        config: The configuration.
        facts: What the cluster says of the topics.
        settings: The reader's client settings.

    Returns:
        A warning for each source of which a key lies outside murmur2(key) mod N.
    """
    warnings = []
    for name in config.source_topics:
        topic = facts[name]
        if topic is not None and _hashes_otherwise(topic, settings):
            warnings.append(
                f"{name}: keys are not spread by murmur2(key) mod {topic.partition_count}; a run that appears in this "
                "source and in another is then beyond the relay's ownership check"
            )
    return warnings


def _hashes_otherwise(topic: TopicFacts, settings: dict[str, Any]) -> bool:
    reader = LogReader(settings, topic.name)
    try:
        for partition in range(topic.partition_count):
            reader.start(partition, None)
        deadline = time.monotonic() + _PATIENCE_S
        seen: list[LogRecord] = []
        while len(seen) < _RECORDS_LOOKED_AT and time.monotonic() < deadline:
            seen += reader.read(_READ_TIMEOUT_S)
    finally:
        reader.close()
    return any(r.key and murmur2_partition(r.key, topic.partition_count) != r.partition for r in seen)
