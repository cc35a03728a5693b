"""Watches the source topics for what must not be jumped over: made anew, gone, or another partition count."""

from collections.abc import Callable
from typing import Final

from relay.config import Config
from relay.errors import NotAnswered
from relay.kafka.admin import Admin
from relay.partitions import Partition, Partitions, Phase
from relay.topics import Layout

_ANSWER_TIMEOUT_S: Final = 2.0


class Watch:
    """Halts partitions whose topics are no longer those that were restored.

    Args:
        config: The configuration.
        admin: Knows the topics.
        layout: What the topics were like at the start.
        partitions: What is assigned here.
        halt: Stops a partition, with the reason.
    """

    def __init__(
        self,
        config: Config,
        admin: Admin,
        layout: Layout,
        partitions: Partitions,
        halt: Callable[[Partition, str], None],
    ) -> None:
        self._config = config
        self._admin = admin
        self._layout = layout
        self._partitions = partitions
        self._halt = halt

    def look(self) -> None:
        """Compare; a cluster that does not answer is asked again next time."""
        try:
            live = self._admin.topic_ids(
                (*self._config.source_topics, self._config.topics.changelog), _ANSWER_TIMEOUT_S
            )
        except NotAnswered:
            return
        wanted = self._layout.partition_count
        common = [
            f"{topic}: expected {wanted} partitions, as at the start, got {count}; keys are spread anew, so runs would "
            "change partitions: restore the count or drain and begin anew"
            for topic, (_topic_id, count) in live.items()
            if count != wanted
        ]
        for partition in self._partitions:
            if partition.phase is not Phase.RUNNING:
                continue
            reasons = common + [
                f"{topic}: the topic was made anew or deleted while it was being read"
                for topic, topic_id in partition.topic_ids.items()
                if live.get(topic, ("", 0))[0] != topic_id
            ]
            if reasons:
                self._halt(partition, "; ".join(reasons))
