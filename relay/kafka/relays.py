"""The relays topic: which own runs are open, by transactional identity.

One partition, compacted, written in every transaction that touches an own run. It is read whole after
`init_transactions`, so that a successor finds the run that its identity left open.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from relay.codec import CodecError, RelayRun, decode_relay_run
from relay.errors import Fatal, NotAnswered
from relay.kafka.admin import Admin
from relay.kafka.log_reader import LogReader

_SLICE_S: Final = 0.5


def read_open_runs(
    settings: dict[str, Any], topic: str, admin: Admin, timeout_s: float, waiting: Callable[[], None]
) -> dict[str, RelayRun]:
    """Read which own runs are open.

    Args:
        settings: The reader's client settings.
        topic: The relays topic.
        admin: Knows the log's end.
        timeout_s: The bound of the whole, seconds; open transactions of other relays may hold it up.
        waiting: Called now and then while that takes; may raise `Interrupted`.

    Returns:
        Identity to its open own run.

    Raises:
        NotAnswered: The end was not reached in time.
        Fatal: A record cannot be read.
        Interrupted: A stop was asked for.
    """
    deadline = time.monotonic() + timeout_s
    reader = LogReader(settings, topic)
    try:
        ends = _ends(admin, topic, deadline)
        for partition in ends:
            reader.start(partition, None)
        runs: dict[str, RelayRun] = {}
        while any(reader.position(partition) < end for partition, end in ends.items()):
            if time.monotonic() > deadline:
                raise NotAnswered(
                    f"{topic}: its end was not reached within {timeout_s:g} s: is a transaction open in it?"
                )
            waiting()
            for record in reader.read(_SLICE_S):
                _apply(runs, topic, record.partition, record.offset, record.key, record.value)
    finally:
        reader.close()
    return runs


def _ends(admin: Admin, topic: str, deadline: float) -> dict[int, int]:
    while True:
        try:
            _topic_id, count = admin.topic_ids([topic], _SLICE_S * 4)[topic]
            return admin.log_ends(topic, range(count), _SLICE_S * 4)
        except (NotAnswered, KeyError) as error:
            if time.monotonic() > deadline:
                raise NotAnswered(f"{topic}: the cluster did not say where its log ends") from error
            time.sleep(0.05)


def _apply(
    runs: dict[str, RelayRun], topic: str, partition: int, offset: int, key: bytes | None, value: bytes | None
) -> None:
    try:
        identity = (key or b"").decode()
        if value is None:
            runs.pop(identity, None)
        else:
            runs[identity] = decode_relay_run(value)
    except (CodecError, UnicodeDecodeError) as error:
        raise Fatal(f"{topic} partition {partition} offset {offset}: cannot be read: {error}") from error
