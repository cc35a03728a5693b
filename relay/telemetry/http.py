"""Serves `/metrics`, `/livez` and `/readyz` from threads of their own; reads what the loop tells, changes nothing."""

import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from relay.clock import Clock
from relay.errors import ConfigError
from relay.telemetry.metrics import Metrics

_REQUEST_TIMEOUT_S: Final = 10
LOOP_SILENCE_MAX_S: Final = 60.0
"""The loop is taken for dead after so long without a turn: twice the longest single call that it makes."""


class Health:
    """What the probes answer. Written by the loop, read by the server's threads; each field is one assignment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._turned_s = clock.monotonic_s()
        self._unready = "starting"

    def turned(self) -> None:
        """The loop made a turn."""
        self._turned_s = self._clock.monotonic_s()

    def ready(self, unready_reason: str) -> None:
        """Say why the relay is not ready; empty for ready."""
        self._unready = unready_reason

    def live_answer(self) -> tuple[HTTPStatus, str]:
        """Whether the loop turns."""
        silence_s = self._clock.monotonic_s() - self._turned_s
        if silence_s > LOOP_SILENCE_MAX_S:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"the loop has not turned for {silence_s:.0f} s"
        return HTTPStatus.OK, "the loop turns"

    def ready_answer(self) -> tuple[HTTPStatus, str]:
        """Whether everything assigned is restored and judged."""
        reason = self._unready
        return (HTTPStatus.SERVICE_UNAVAILABLE, reason) if reason else (HTTPStatus.OK, "assigned and restored")


class _Server(ThreadingHTTPServer):
    """The server of the handler below."""

    daemon_threads = True
    metrics: Metrics
    health: Health

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing: a scraper that hangs up is its own affair, and no fact worth acting on."""


class _Handler(BaseHTTPRequestHandler):
    """Answers three paths."""

    server: _Server
    timeout = _REQUEST_TIMEOUT_S

    def do_GET(self) -> None:
        """Answer a GET."""
        path = self.path.partition("?")[0]
        if path == "/metrics":
            body, content_type = self.server.metrics.expose(self.headers.get("Accept", ""))
            self._answer(HTTPStatus.OK, body, content_type)
            return
        probes = {"/livez": self.server.health.live_answer, "/readyz": self.server.health.ready_answer}
        probe = probes.get(path)
        status, text = probe() if probe else (HTTPStatus.NOT_FOUND, "expected /metrics, /livez or /readyz")
        self._answer(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server calls
        """Write nothing: a probe every few seconds is not a fact worth acting on."""

    def _answer(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class TelemetryServer:
    """The HTTP server.

    Args:
        host: The address to listen on.
        port: The port; 0 lets the system choose.
        metrics: What `/metrics` shows.
        health: What the probes answer.

    Raises:
        ConfigError: The address cannot be listened on.
    """

    def __init__(self, host: str, port: int, metrics: Metrics, health: Health) -> None:
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            server = type("_FamilyServer", (_Server,), {"address_family": family})
            self._server: _Server = server((host, port), _Handler)
        except (OSError, UnicodeError) as error:
            got = error.strerror if isinstance(error, OSError) else "no such name"
            raise ConfigError([f"http: expected to listen on {host} port {port}, got {got}"]) from error
        self._server.metrics = metrics
        self._server.health = health
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port."""
        self._server.shutdown()
        self._server.server_close()
