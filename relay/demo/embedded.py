"""The broker inside the client library: librdkafka's mock cluster, with topics of a stated partition count.

It starts at once and lives in this process, which is what a demonstration needs. It is no Kafka: it does not store
the offsets of a transaction, shows aborted records and fences nobody, so nothing about exactly-once may be concluded
from it. A partition keeps its last 5 MB or so.
"""

import ctypes
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import cimpl, libversion

from relay.errors import StartUpError

_BROKER_COUNT: Final = 1
_REPLICATION_FACTOR: Final = 1
_FIRST_BROKER: Final = 1
_REBALANCE_DELAY_MS: Final = 100
"""The mock's 3 seconds wait for members that never come here."""
_ERROR_TEXT_BYTES: Final = 512
_PRODUCER: Final = 0
"""`RD_KAFKA_PRODUCER`, the kind of client that the cluster hangs on."""
_NO_ERROR: Final = 0

_POINTER: Final = ctypes.c_void_p
_SIGNATURES: Final[Mapping[str, tuple[Any, tuple[Any, ...]]]] = {
    "rd_kafka_conf_new": (_POINTER, ()),
    "rd_kafka_conf_set": (
        ctypes.c_int,
        (_POINTER, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t),
    ),
    "rd_kafka_new": (_POINTER, (ctypes.c_int, _POINTER, ctypes.c_char_p, ctypes.c_size_t)),
    "rd_kafka_destroy": (None, (_POINTER,)),
    "rd_kafka_mock_cluster_new": (_POINTER, (_POINTER, ctypes.c_int)),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, (_POINTER,)),
    "rd_kafka_mock_cluster_destroy": (None, (_POINTER,)),
    "rd_kafka_mock_set_controller_id": (ctypes.c_int, (_POINTER, ctypes.c_int32)),
    "rd_kafka_mock_group_initial_rebalance_delay_ms": (None, (_POINTER, ctypes.c_int32)),
    "rd_kafka_mock_topic_create": (ctypes.c_int, (_POINTER, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)),
}
"""What is called of the library: name to result and arguments, as `rdkafka.h` and `rdkafka_mock.h` declare them."""


class EmbeddedCluster:
    """A mock cluster for as long as the `with` block runs.

    Args:
        partition_counts: Topic name to its number of partitions.

    Raises:
        StartUpError: The client library at hand has no mock cluster, or it did not start.
    """

    def __init__(self, partition_counts: Mapping[str, int]) -> None:
        self._library = _library()
        self._client = self._new_client()
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._client, _BROKER_COUNT)
        if not self._cluster:
            self._library.rd_kafka_destroy(self._client)
            raise StartUpError(["embedded cluster: expected it to start, the client library made none"])
        # Without a controller, the questions that the relay asks about topics are never answered (tried).
        self._library.rd_kafka_mock_set_controller_id(self._cluster, _FIRST_BROKER)
        self._library.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, _REBALANCE_DELAY_MS)
        for topic, count in partition_counts.items():
            self._create(topic, count)

    @property
    def bootstrap_servers(self) -> str:
        """Where it listens, on loopback."""
        address: bytes = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        return address.decode()

    def __enter__(self) -> Self:
        """It runs already."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """End it; its clients should be gone."""
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)

    def _new_client(self) -> int:
        """The client that the cluster hangs on. Its log is off: it would say that it has no broker to talk to."""
        text = ctypes.create_string_buffer(_ERROR_TEXT_BYTES)
        settings = self._library.rd_kafka_conf_new()
        self._library.rd_kafka_conf_set(settings, b"log_level", b"0", text, _ERROR_TEXT_BYTES)
        client: int | None = self._library.rd_kafka_new(_PRODUCER, settings, text, _ERROR_TEXT_BYTES)
        if client is None:
            raise StartUpError([f"embedded cluster: expected a client to hang it on, got: {text.value.decode()}"])
        return client

    def _create(self, topic: str, partition_count: int) -> None:
        error = self._library.rd_kafka_mock_topic_create(
            self._cluster, topic.encode(), partition_count, _REPLICATION_FACTOR
        )
        if error != _NO_ERROR:
            raise StartUpError([f"embedded cluster: {topic}: expected it to be created, got error {error}"])


def _library() -> ctypes.CDLL:
    """The client library that `confluent_kafka` itself uses, be it the bundled one or the system's."""
    library = ctypes.CDLL(cimpl.__file__)
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError as error:
            version, _number = libversion()
            fault = (
                f"embedded cluster: expected `{name}` in librdkafka, {version} lacks it; use a wheel of "
                "confluent-kafka with its library bundled, or --bootstrap-servers with a real broker"
            )
            raise StartUpError([fault]) from error
        function.restype, function.argtypes = result, arguments
    return library
