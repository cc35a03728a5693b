"""Starts a cluster of real brokers on loopback and says so only once a client had an answer from each.

Stopping is `state.stop`, which needs the folder alone.
"""

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import environ
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.kafka.kafka_local import jars, settings
from deploy.kafka.kafka_local import state as cluster_state
from deploy.kafka.kafka_local.errors import LocalKafkaError
from deploy.kafka.kafka_local.identity import identity_of, is_alive
from deploy.kafka.kafka_local.java import find_java
from deploy.kafka.kafka_local.settings import HOST, Node, Profile
from deploy.kafka.kafka_local.state import BrokerProcess, ClusterState

READY_TIMEOUT_S = 90.0
METADATA_TIMEOUT_S = 2.0
POLL_INTERVAL_S = 0.1
FORMAT_TIMEOUT_S = 120.0
START_TRIES_MAX = 3
LOG_TAIL_LINES = 12

# Handles of the brokers that this process started; one thrown away while its process runs would warn.
_started: dict[int, subprocess.Popen[bytes]] = {}


class PortTakenError(LocalKafkaError):
    """A broker could not listen because another process took its port."""


@dataclass(frozen=True)
class Tools:
    """What starting needs from outside: a `java` and the class path."""

    java: Path
    class_path: str

    def command(self, flags: Sequence[str], main_class: str, arguments: Sequence[str]) -> list[str]:
        """Compose the command line of one JVM."""
        return [str(self.java), *flags, "-cp", self.class_path, main_class, *arguments]


def find_tools() -> Tools:
    """Find Java and the jars; only the first time may this need the network.

    Raises:
        LocalKafkaError: If one of them cannot be had.
    """
    java = find_java()
    return Tools(java, ":".join(str(path) for path in jars.ensure_jars(jars.cache_root(environ))))


def port_is_free(port: int) -> bool:
    """Say whether a broker could listen on the loopback port, by trying."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Ask the kernel for loopback ports, all different since all are held until the last is known."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]


def _plan_nodes(folder: Path, ports: Sequence[int] | None, broker_count: int) -> list[Node]:
    """Give every node its ports and its folder.

    Raises:
        PortTakenError: If one of the ports asked for is taken.
    """
    for port in ports or ():
        if not port_is_free(port):
            raise PortTakenError(
                f"port {port}: expected a free port on {HOST}, got one that another process listens on"
            )
    drawn = free_ports(2 * broker_count)
    chosen = list(ports or drawn[:broker_count])
    return [Node(i + 1, chosen[i], drawn[broker_count + i], folder / f"broker-{i + 1}") for i in range(broker_count)]


def _prepare(nodes: Sequence[Node], profile: Profile, tools: Tools, cluster_id: str) -> None:
    """Write every node's settings and format its data folder.

    Raises:
        LocalKafkaError: If Kafka's storage tool refuses; with what it printed.
    """
    commands = []
    for node in nodes:
        node.folder.mkdir()
        rendered = settings.render_properties(settings.node_settings(node, nodes, profile))
        node.properties_path.write_text(rendered, encoding="utf-8")
        (node.folder / "log4j2.xml").write_text(settings.render_log_settings(node.log_path), encoding="utf-8")
        arguments = ["format", "-t", cluster_id, "-c", str(node.properties_path)]
        flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
        lone = ["--standalone"] if len(nodes) == 1 else []
        commands.append(tools.command(flags, "kafka.tools.StorageTool", [*arguments, *lone]))
    for command in commands:
        answer = subprocess.run(  # noqa: S603 - the Java and jars of this tool
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=FORMAT_TIMEOUT_S,
        )
        if answer.returncode != 0:
            said = (answer.stdout + answer.stderr).strip()
            raise LocalKafkaError(f"format: expected exit code 0, got {answer.returncode}\n{said}")


def _spawn(node: Node, tools: Tools, flags: Sequence[str]) -> BrokerProcess:
    """Start one broker in a session of its own, so that a Ctrl-C meant for its starter passes it by.

    Raises:
        LocalKafkaError: If it ended at once.
    """
    log_flag = f"-Dlog4j2.configurationFile=file:{node.folder / 'log4j2.xml'}"
    with node.console_path.open("wb") as console:
        process = subprocess.Popen(  # noqa: S603 - as above
            tools.command([*flags, log_flag], "kafka.Kafka", [str(node.properties_path)]),
            cwd=node.folder,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _started[process.pid] = process
    found = identity_of(process.pid)
    if found is None:
        raise LocalKafkaError(f"broker {node.node_id}: expected it to start, ended at once\n{log_tail(node)}")
    return BrokerProcess(node.node_id, node.port, found)


def log_tail(node: Node) -> str:
    """Give the last lines that a broker logged and printed, for an error to show."""
    lines: list[str] = []
    for path in (node.log_path, node.console_path):
        if path.exists():
            lines += path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join(f"  {line}" for line in lines)


def answers(bootstrap_servers: str, timeout_s: float = METADATA_TIMEOUT_S) -> tuple[str | None, int] | None:
    """Ask for metadata as a client does.

    Args:
        bootstrap_servers: `host:port`, several with commas between.
        timeout_s: How long to wait for the answer, in seconds.

    Returns:
        The cluster id and the number of brokers, or None if no answer came in time.
    """
    # Refused connections are expected here: try again soon, and say nothing.
    client = AdminClient({"bootstrap.servers": bootstrap_servers, "reconnect.backoff.max.ms": 200, "log_level": 0})
    try:
        metadata = client.list_topics(timeout=timeout_s)
    except KafkaException:
        return None
    return metadata.cluster_id, len(metadata.brokers)


def _wait_ready(nodes: Sequence[Node], brokers: Sequence[BrokerProcess], cluster_id: str) -> None:
    """Wait until every broker tells a client of all the brokers.

    Raises:
        PortTakenError: If one ended because its port was taken meanwhile.
        LocalKafkaError: If one ended for another reason, or the time is over.
    """
    deadline = time.monotonic() + READY_TIMEOUT_S
    waiting = list(zip(nodes, brokers, strict=True))
    while waiting:
        node, broker = waiting[0]
        if not all(is_alive(other.process) for other in brokers):
            ended = next(n for n, b in zip(nodes, brokers, strict=True) if not is_alive(b.process))
            tail = log_tail(ended)
            kind = PortTakenError if "Address already in use" in tail else LocalKafkaError
            raise kind(f"broker {ended.node_id}: expected it to run, its process ended\n{tail}")
        if not port_is_free(node.port) and answers(broker.address) == (cluster_id, len(nodes)):
            waiting.pop(0)
            continue
        if time.monotonic() > deadline:
            raise LocalKafkaError(
                f"broker {node.node_id}: expected metadata from {broker.address} "
                f"within {READY_TIMEOUT_S:.0f} s, got none\n{log_tail(node)}"
            )
        time.sleep(POLL_INTERVAL_S)


def _start_once(folder: Path, ports: Sequence[int] | None, tools: Tools, begun: ClusterState) -> ClusterState:
    """Prepare, spawn and await the nodes; the state on disk names each process as soon as it exists.

    Raises:
        PortTakenError: If a port is taken; with free ports, between asking the kernel and listening.
        LocalKafkaError: If a broker does not come up. Whatever was started has been killed then.
    """
    cluster_id = settings.new_cluster_id()
    nodes = _plan_nodes(folder, ports, begun.broker_count)
    cluster_state.clear_nodes(folder)
    state = begun
    cluster_state.save_state(folder, state)
    try:
        _prepare(nodes, begun.profile, tools, cluster_id)
        for node in nodes:
            started = _spawn(node, tools, settings.jvm_flags(begun.profile, len(nodes)))
            state = replace(state, brokers=(*state.brokers, started))
            cluster_state.save_state(folder, state)
        _wait_ready(nodes, state.brokers, cluster_id)
    except BaseException:
        cluster_state.kill_brokers(state)
        reap()
        raise
    return state


def _start_with_retries(folder: Path, ports: Sequence[int] | None, tools: Tools, begun: ClusterState) -> ClusterState:
    """Start the nodes, anew with other ports where another process took one of the free ports meanwhile."""
    for tries_left in reversed(range(START_TRIES_MAX)):
        try:
            return _start_once(folder, ports, tools, begun)
        except PortTakenError:
            if ports is not None or tries_left == 0:
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def start(folder: Path, ports: Sequence[int] | None, broker_count: int, profile: Profile) -> tuple[ClusterState, bool]:
    """Start a cluster, unless the folder's own already runs.

    Args:
        folder: Where data, logs and process ids are kept; absolute. Made if it does not exist.
        ports: The brokers' ports, or None for free ones.
        broker_count: How many brokers, from 1.
        profile: What it is for.

    Returns:
        The cluster's state, and whether this call started it.

    Raises:
        LocalKafkaError: If it cannot be started, or runs in part; a failed start leaves nothing behind.
    """
    tools = find_tools()
    made_folders = cluster_state.missing_folders(folder)
    with cluster_state.folder_lock(folder):
        existing = cluster_state.load_state(folder)
        if existing is not None and existing.is_running():
            return existing, False
        made_folders = existing.made_folders if existing is not None else made_folders
        _check_startable(folder, existing)
        begun = ClusterState(jars.KAFKA_VERSION, profile, broker_count, made_folders, ())
        try:
            return _start_with_retries(folder, ports, tools, begun), True
        except BaseException:
            cluster_state.clear(folder, made_folders)
            raise


def _check_startable(folder: Path, existing: ClusterState | None) -> None:
    """Refuse a folder where a start would touch what is not its own.

    Raises:
        LocalKafkaError: If some of its brokers run, or folders of brokers lie in it without a state.
    """
    if existing is not None and (alive := existing.alive()):
        raise LocalKafkaError(
            f"{folder}: expected all {existing.broker_count} brokers or none to run, got {len(alive)}: stop it first"
        )
    if existing is None and any(folder.glob(cluster_state.NODE_FOLDER_PATTERN)):
        (folder / cluster_state.LOCK_NAME).unlink()
        raise LocalKafkaError(
            f"{folder}: expected a new folder or one of this command, got one with other broker-* in it"
        )


def reap() -> None:
    """Collect the exit codes of this process's brokers that have ended, so that no zombie stays."""
    for pid, process in list(_started.items()):
        if process.poll() is not None:
            del _started[pid]


@contextlib.contextmanager
def running(
    folder: Path | None = None, broker_count: int = 1, profile: Profile = Profile.TEST
) -> Iterator[ClusterState]:
    """Run a cluster on free ports for as long as the block runs.

    A watcher stops it even if this process is killed outright: it waits at a pipe that the kernel closes then.

    Args:
        folder: Where to keep it; None for a new folder among the temporary ones.
        broker_count: How many brokers, from 1.
        profile: What it is for.

    Yields:
        The cluster's state.

    Raises:
        LocalKafkaError: If it cannot be started, or the folder's own already runs.
    """
    folder = folder or Path(tempfile.gettempdir()) / f"ethogram-kafka-{uuid.uuid4().hex[:12]}"
    watcher = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "deploy.kafka.kafka_local.watcher", str(folder)],
        cwd=jars.REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        state, is_new = start(folder, None, broker_count, profile)
        if not is_new:
            raise LocalKafkaError(
                f"{folder}: expected no running cluster, got one at {state.bootstrap_servers}: stop it first"
            )
        try:
            yield state
        finally:
            cluster_state.stop(folder)
            reap()
    finally:
        # Killed, not told by the pipe: it must not touch a cluster that was there before.
        watcher.kill()
        watcher.communicate()
