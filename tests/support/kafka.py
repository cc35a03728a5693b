"""Finds a real broker for the tests: a given one, else one in Docker, else a local one from packages.

Never a stand-in: those lie about transactions. Without any, the tests that need one fail.
"""

import gc
import os
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

from deploy.kafka.kafka_local import cluster, settings
from deploy.kafka.kafka_local.errors import LocalKafkaError
from deploy.kafka.kafka_local.jars import KAFKA_VERSION
from deploy.kafka.kafka_local.settings import Profile

ENV_NAME = "KAFKA_BOOTSTRAP_SERVERS"
IMAGE = f"apache/kafka:{KAFKA_VERSION}"
ENV_TIMEOUT_S = 10.0
DOCKER_PROBE_TIMEOUT_S = 5
DOCKER_START_TIMEOUT_S = 60.0
CONTROLLER_PORT_IN_CONTAINER = 9093


class NoBrokerError(Exception):
    """No real broker can be had; the text says what was tried and what to install or set."""


@dataclass(frozen=True)
class KafkaBroker:
    """A real broker that answers.

    Attributes:
        bootstrap_servers: `host:port`, several with commas between.
        kind: Where it came from: the environment, Docker, or local packages.
        version: The Apache Kafka version, or None where it is not ours to know.
    """

    bootstrap_servers: str
    kind: Literal["env", "docker", "local"]
    version: str | None

    def describe(self) -> str:
        """Name it in one phrase, such as `local Apache Kafka 4.3.1 at 127.0.0.1:9092`."""
        version = f" {self.version}" if self.version else ""
        return f"{self.kind} Apache Kafka{version} at {self.bootstrap_servers}"


def from_environment(_stack: ExitStack) -> KafkaBroker | str:
    """Take the broker that the user names.

    Returns:
        The broker, or why there is none.

    Raises:
        NoBrokerError: If one is named and does not answer; another in its place would surprise.
    """
    bootstrap_servers = os.environ.get(ENV_NAME)
    if not bootstrap_servers:
        return f"{ENV_NAME} is not set"
    if cluster.answers(bootstrap_servers, ENV_TIMEOUT_S) is None:
        raise NoBrokerError(
            f"{ENV_NAME}: expected a broker that answers within {ENV_TIMEOUT_S:.0f} s, got none at {bootstrap_servers}"
        )
    return KafkaBroker(bootstrap_servers, "env", None)


def container_settings(host: str, port: int) -> dict[str, str]:
    """Give the server properties of the one broker in a container.

    Args:
        host: The name or address by which clients reach the engine's ports.
        port: The port inside the container and on the engine's host alike, so that the advertised one is true.

    Returns:
        Property names to values. The image formats with static voters, so these are named, not a bootstrap line.
    """
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://:{port},CONTROLLER://:{CONTROLLER_PORT_IN_CONTAINER}",
        "advertised.listeners": f"PLAINTEXT://{host}:{port}",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.quorum.voters": f"1@localhost:{CONTROLLER_PORT_IN_CONTAINER}",
        **settings.cluster_settings(1, Profile.TEST),
    }


def _start_container(stack: ExitStack) -> KafkaBroker | str:
    """Ask the engine, and start the official image on it.

    `testcontainers` has a class for Kafka, but it drives Confluent's images alone, by scripts that this one lacks.
    """
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415 - slow, and needless with a given broker
    from testcontainers.core.docker_client import DockerClient  # noqa: PLC0415 - as above

    DockerClient(timeout=DOCKER_PROBE_TIMEOUT_S).client.ping()
    (port,) = cluster.free_ports(1)
    container = DockerContainer(IMAGE).with_bind_ports(port, port)
    host = container.get_container_host_ip()
    container.with_envs(**settings.container_environment(container_settings(host, port)))
    stack.callback(container.stop)
    container.start()
    bootstrap_servers = f"{host}:{port}"
    if cluster.answers(bootstrap_servers, DOCKER_START_TIMEOUT_S) is None:
        return f"{IMAGE} did not answer at {bootstrap_servers} within {DOCKER_START_TIMEOUT_S:.0f} s"
    return KafkaBroker(bootstrap_servers, "docker", KAFKA_VERSION)


def _try_container(stack: ExitStack) -> KafkaBroker | str:
    """Start the container, or stop what was started of it and say why it is of no use."""
    with ExitStack() as attempt:
        try:
            found = _start_container(attempt)
        except Exception as error:  # noqa: BLE001 - whatever an engine fails by, the local broker is the answer
            return f"Docker: {type(error).__name__}: {str(error)[:200]}"
        if isinstance(found, KafkaBroker):
            stack.push(attempt.pop_all())
        return found


def from_docker(stack: ExitStack) -> KafkaBroker | str:
    """Start the official image if an engine answers.

    Args:
        stack: Stops the container at its end.

    Returns:
        The broker, or why there is none.
    """
    with warnings.catch_warnings():
        # Where no engine answers, its client leaves a socket to the collector: have it collected here and in silence.
        warnings.simplefilter("ignore", ResourceWarning)
        found = _try_container(stack)
        gc.collect()
    return found


def from_packages(stack: ExitStack) -> KafkaBroker | str:
    """Start the local broker in a temporary folder on free ports.

    Args:
        stack: Stops the broker at its end.

    Returns:
        The broker, or why there is none.
    """
    try:
        state = stack.enter_context(cluster.running())
    except LocalKafkaError as error:
        return f"local packages: {error}"
    return KafkaBroker(state.bootstrap_servers, "local", state.version)


SOURCES: tuple[Callable[[ExitStack], KafkaBroker | str], ...] = (from_environment, from_docker, from_packages)


def acquire_broker(stack: ExitStack) -> KafkaBroker:
    """Find a real broker.

    Args:
        stack: Whatever was started for it is stopped at the stack's end.

    Returns:
        The first broker that answers.

    Raises:
        NoBrokerError: If there is none.
    """
    reasons = []
    for source in SOURCES:
        found = source(stack)
        if isinstance(found, KafkaBroker):
            return found
        reasons.append(found)
    raise NoBrokerError(
        f"expected a real Kafka broker, got none: set {ENV_NAME} to one, start a Docker engine, or run "
        "`make setup` with access to the package indexes once.\n  " + "\n  ".join(reasons)
    )
