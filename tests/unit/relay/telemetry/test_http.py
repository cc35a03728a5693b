"""The probes, on a real port of the loopback interface."""

import http.client
import socket
import struct
from collections.abc import Iterator

import pytest

from relay.errors import ConfigError
from relay.telemetry.http import LOOP_SILENCE_MAX_S, Health, TelemetryServer
from relay.telemetry.metrics import Metrics
from tests.unit.relay.samples import StillClock

Served = tuple[TelemetryServer, Health, StillClock]


@pytest.fixture
def served() -> Iterator[Served]:
    """A server on a port that the system chose."""
    clock = StillClock()
    health = Health(clock)
    server = TelemetryServer("127.0.0.1", 0, Metrics(["a"]), health)
    server.start()
    yield server, health, clock
    server.stop()


def ask(server: TelemetryServer, path: str, method: str = "GET", **headers: str) -> tuple[int, str, str]:
    """Status, content type and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def test_liveness_is_that_the_loop_turns(served: Served) -> None:
    """`/livez` fails once the loop has been silent for too long, and recovers with a turn."""
    server, health, clock = served
    assert ask(server, "/livez") == (200, "text/plain; charset=utf-8", "the loop turns\n")
    clock.advance(LOOP_SILENCE_MAX_S)
    assert ask(server, "/livez")[0] == 200
    clock.advance(1)
    assert ask(server, "/livez")[0::2] == (503, "the loop has not turned for 61 s\n")
    health.turned()
    assert ask(server, "/livez")[0] == 200


def test_readiness_says_what_is_missing(served: Served) -> None:
    """`/readyz` gives the reason why the relay is not ready, and only then fails."""
    server, health, _clock = served
    assert ask(server, "/readyz")[0::2] == (503, "starting\n")
    health.ready("")
    assert ask(server, "/readyz")[0::2] == (200, "assigned and restored\n")
    health.ready("restoring partitions: 1, 2")
    assert ask(server, "/readyz")[0::2] == (503, "restoring partitions: 1, 2\n")


def test_metrics_are_served_in_both_formats(served: Served) -> None:
    """`/metrics` serves the text format, and OpenMetrics to whoever asks for it; a query is let pass."""
    server, _health, _clock = served
    status, content_type, body = ask(server, "/metrics?x=1")
    assert (status, content_type.partition(";")[0]) == (200, "text/plain")
    assert 'ethogram_relay_records_consumed_total{source="a"} 0.0' in body
    _status, content_type, body = ask(server, "/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert body.endswith("# EOF\n")


def test_other_paths_are_not_found(served: Served) -> None:
    """Anything else is 404 and says what there is; other methods are refused."""
    server, _health, _clock = served
    assert ask(server, "/")[0::2] == (404, "expected /metrics, /livez or /readyz\n")
    assert ask(server, "/livez", "POST")[0] == 501


def test_a_port_in_use_is_a_configuration_fault(served: Served) -> None:
    """An address that cannot be listened on is named, with what the system says."""
    server, health, _clock = served
    with pytest.raises(ConfigError) as caught:
        TelemetryServer("127.0.0.1", server.port, Metrics([]), health)
    assert caught.value.faults == [
        f"http: expected to listen on 127.0.0.1 port {server.port}, got Address already in use"
    ]


def test_a_scraper_that_hangs_up_is_not_told_of(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    """A connection that is reset in the midst of an answer writes nothing, and the next one is answered."""
    server, health, _clock = served
    health.ready("")
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert ask(server, "/readyz")[0] == 200
    assert capfd.readouterr().err == ""
