"""Wakes the client's thread of a broker, so that what was just started or resumed is fetched at once."""

import contextlib
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

_TIMEOUT_S: Final = 1.0
"""Longer than a fetch in flight may hold the answer up: a request that timed out would cost the connection."""


def wake_leader(client: Consumer, partition: TopicPartition) -> None:
    """Send any request to a partition's leader.

    The thread of an idle broker sleeps up to a second before it fetches what was resumed or assigned (measured); a
    request on its connection wakes it. The answer does not matter, nor whether there is one.

    Args:
        client: The consumer.
        partition: One of those that were started or resumed.
    """
    with contextlib.suppress(KafkaException):
        client.get_watermark_offsets(partition, timeout=_TIMEOUT_S)
