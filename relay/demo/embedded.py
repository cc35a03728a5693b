"""The broker inside the client library: librdkafka's mock cluster, with topics of a stated partition count.

It starts at once and lives in this process, which is what a demonstration needs. It is no Kafka: it does not store
the offsets of a transaction, shows aborted records and fences nobody, so nothing about exactly-once may be concluded
from it. A partition keeps its last 5 MB or so.
"""

import ctypes
from collections.abc import Mapping
from typing import Any, Final

_BROKERS: Final = 1
_ERROR_TEXT_BYTES: Final = 512
_PRODUCER: Final = 0
"""`RD_KAFKA_PRODUCER`, the kind of client that the cluster hangs on."""
_CONF_OK: Final = 0
_REBALANCE_DELAY_MS: Final = 100

_SIGNATURES: Final[Mapping[str, tuple[Any, list[Any]]]] = {
    "rd_kafka_conf_new": (ctypes.c_void_p, []),
    "rd_kafka_conf_set": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t],
    ),
    "rd_kafka_new": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "rd_kafka_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_mock_cluster_new": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, [ctypes.c_void_p]),
    "rd_kafka_mock_cluster_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_mock_group_initial_rebalance_delay_ms": (None, [ctypes.c_void_p, ctypes.c_int32]),
    "rd_kafka_mock_topic_create": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int],
    ),
}
"""What is called of the library: name to result and argument types, as `rdkafka.h` and `rdkafka_mock.h` declare."""
