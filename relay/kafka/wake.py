"""Wakes the client's thread of a broker, so that what was just started or resumed is fetched at once."""

import contextlib
from collections.abc import Iterable
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

_TIMEOUT_S: Final = 0.01
"""The request is on its way at once; its answer is not waited for."""


def wake_leaders(client: Consumer, partitions: Iterable[TopicPartition]) -> None:
    """Send any request to the partitions' leaders.

    The thread of an idle broker sleeps up to a second before it fetches what was resumed or assigned (measured); a
    request on its connection wakes it. The answer does not matter, nor whether there is one.

    Args:
        client: The consumer.
        partitions: What was started or resumed.
    """
    for partition in partitions:
        with contextlib.suppress(KafkaException):
            client.get_watermark_offsets(partition, timeout=_TIMEOUT_S)
