"""Runs the relay as users do, as a process with a configuration file, and looks at it from outside.

Every wait has a bound; an error shows the end of the relay's log.
"""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml
from prometheus_client.parser import text_string_to_metric_families

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_HTTP_HOST = "127.0.0.1"
DEFAULT_HTTP_PORT = 9464
READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
HTTP_TIMEOUT_S = 5.0
POLL_INTERVAL_S = 0.05
LOG_TAIL_CHARACTERS = 4_000
HTTP_OK = 200

Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Metrics:
    """What one scrape gave: name and labels of each sample to its value."""

    samples: Mapping[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        """Give one sample.

        Raises:
            KeyError: If there is none of that name with exactly these labels; the text lists those of the name.
        """
        key = (name, frozenset(labels.items()))
        if key not in self.samples:
            known = [dict(found) for sample, found in self.samples if sample == name]
            raise KeyError(f"{name}: expected a sample with labels {labels}, got {known}")
        return self.samples[key]

    def total(self, name: str, **labels: str) -> float:
        """Add up every sample of the name that has at least these labels; 0 if there is none."""
        wanted = frozenset(labels.items())
        return sum(value for (sample, found), value in self.samples.items() if sample == name and wanted <= found)


def parse_metrics(text: str) -> Metrics:
    """Parse the Prometheus text format."""
    samples = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    return Metrics(samples)


def free_port() -> int:
    """Ask the kernel for a free loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((DEFAULT_HTTP_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def write_config(path: Path, config: Mapping[str, Any]) -> Path:
    """Write a configuration file; without an `http` section it gets one with a free port.

    Args:
        path: Where to.
        config: The sections, not changed.

    Returns:
        The path.
    """
    http_section = {"host": DEFAULT_HTTP_HOST, "port": free_port()}
    path.write_text(yaml.safe_dump({"http": http_section, **config}, sort_keys=False), encoding="utf-8")
    return path


class RelayProcess:
    """One relay process, killed at the end of its `with` block if it still runs.

    It may be started again after its end, as a supervisor would; the log is appended to.
    """

    def __init__(
        self,
        config_path: Path,
        log_path: Path | None = None,
        *,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Read where the relay will listen; start nothing.

        Args:
            config_path: The configuration file.
            log_path: Where standard output and error go; by default beside the configuration, with suffix `.log`.
            arguments: More arguments of `run`.
            environment: Variables over those of this process.
        """
        self._command = [sys.executable, "-m", "relay", "run", "--config", str(config_path), *arguments]
        self._environment = {**os.environ, **(environment or {})}
        self.log_path = log_path or config_path.with_suffix(".log")
        section = (yaml.safe_load(config_path.read_text(encoding="utf-8")) or {}).get("http", {})
        self.http_host: str = section.get("host", DEFAULT_HTTP_HOST)
        self.http_port: int = section.get("port", DEFAULT_HTTP_PORT)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it, without waiting."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill it if it still runs."""
        self.kill()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last.

        Raises:
            RuntimeError: If none was.
        """
        if self._process is None:
            raise RuntimeError("relay: expected a started process, got none")
        return self._process

    def start(self) -> None:
        """Start the process.

        Raises:
            RuntimeError: If the last one still runs.
        """
        if self._process is not None and self._process.poll() is None:
            raise RuntimeError(f"relay: expected no running process, got {self._process.pid}")
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=REPOSITORY,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def get(self, path: str) -> tuple[int, str] | None:
        """Ask the relay's HTTP server.

        Args:
            path: Such as `/readyz`.

        Returns:
            Status and body, or None if nobody answers.
        """
        connection = http.client.HTTPConnection(self.http_host, self.http_port, timeout=HTTP_TIMEOUT_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def wait_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Wait until `/readyz` answers 200.

        Raises:
            AssertionError: If the process ends first.
            TimeoutError: If it does not answer so in time.
        """
        deadline = time.monotonic() + timeout_s
        answer = None
        while time.monotonic() < deadline:
            if (code := self.process.poll()) is not None:
                raise AssertionError(f"relay: expected it ready, it ended with exit code {code}\n{self.log_tail()}")
            answer = self.get("/readyz")
            if answer is not None and answer[0] == HTTP_OK:
                return
            time.sleep(POLL_INTERVAL_S)
        raise TimeoutError(f"relay: expected 200 from /readyz in {timeout_s:.0f} s, got {answer}\n{self.log_tail()}")

    def metrics(self) -> Metrics:
        """Scrape `/metrics`.

        Raises:
            AssertionError: If it does not answer 200.
        """
        answer = self.get("/metrics")
        if answer is None or answer[0] != HTTP_OK:
            raise AssertionError(f"relay: expected 200 from /metrics, got {answer}\n{self.log_tail()}")
        return parse_metrics(answer[1])

    def wait_exit(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Wait for the end.

        Returns:
            The exit code; negative for a signal.

        Raises:
            TimeoutError: If it still runs then.
        """
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"relay: expected its end in {timeout_s:.0f} s, still runs\n{self.log_tail()}") from None

    def terminate(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Ask it to end with SIGTERM, and wait for that.

        Returns:
            The exit code.

        Raises:
            TimeoutError: If it still runs then.
        """
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit(timeout_s)

    def kill(self) -> None:
        """Kill it outright, as `kill -9` does, and wait until it is gone; nothing if it is gone already."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._process.wait(STOP_TIMEOUT_S)

    def pause(self) -> None:
        """Stop it from running, with SIGSTOP, as a machine that hangs would."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it run on after `pause`."""
        self.process.send_signal(signal.SIGCONT)

    def log(self) -> str:
        """Everything it printed so far, over all starts."""
        return self.log_path.read_text(encoding="utf-8", errors="replace") if self.log_path.exists() else ""

    def log_tail(self) -> str:
        """The end of what it printed."""
        return self.log()[-LOG_TAIL_CHARACTERS:]
