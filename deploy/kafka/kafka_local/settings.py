"""What the brokers are told: server properties, log settings and JVM flags, as pure values.

Opens nothing and starts nothing.
"""

import base64
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
REPLICAS_MAX = 3
MIN_INSYNC_OF_THREE = 2


class Profile(enum.StrEnum):
    """What the broker is for."""

    TEST = "test"
    BENCH = "bench"


@dataclass(frozen=True)
class Node:
    """One broker, which is a controller too: its number from 1, its two loopback ports, and the folder it owns."""

    node_id: int
    port: int
    controller_port: int
    folder: Path

    @property
    def data_folder(self) -> Path:
        """Where the records lie."""
        return self.folder / "data"

    @property
    def properties_path(self) -> Path:
        """Where its server properties are written."""
        return self.folder / "server.properties"

    @property
    def log_path(self) -> Path:
        """Kafka's own log."""
        return self.folder / "server.log"

    @property
    def console_path(self) -> Path:
        """What the JVM prints, among it why it could not start."""
        return self.folder / "console.log"


def new_cluster_id() -> str:
    """Draw a cluster id as Kafka's own tool does: 16 random bytes in URL-safe base64, never with a leading dash.

    Making it here saves the start of a JVM, 0.8 s.
    """
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        continue
    return text


def cluster_settings(broker_count: int, profile: Profile) -> dict[str, str]:
    """Give the settings that do not depend on ports or folders.

    Args:
        broker_count: How many brokers there are, from 1.
        profile: `test` finds timed-out transactions and compacts within a second; `bench` leaves both at Kafka's
            defaults, since their threads would cost the measured work.

    Returns:
        Property names to values.
    """
    replicas = min(broker_count, REPLICAS_MAX)
    insync = MIN_INSYNC_OF_THREE if replicas == REPLICAS_MAX else 1
    settings = {
        "auto.create.topics.enable": "false",
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(insync),
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.num.partitions": "4",
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(insync),
        "share.coordinator.state.topic.replication.factor": str(replicas),
        "share.coordinator.state.topic.min.isr": str(insync),
    }
    if profile is Profile.TEST:
        settings["transaction.abort.timed.out.transaction.cleanup.interval.ms"] = "1000"
        settings["log.cleaner.backoff.ms"] = "500"
    return settings


def node_settings(node: Node, nodes: Sequence[Node], profile: Profile) -> dict[str, str]:
    """Give every server property of one node.

    Args:
        node: The node.
        nodes: All nodes, this one among them.
        profile: What the cluster is for.

    Returns:
        Property names to values. A lone node finds its quorum by the bootstrap line and is formatted as standalone;
        several name each other as voters.
    """
    listener = f"PLAINTEXT://{HOST}:{node.port}"
    settings = {
        "process.roles": "broker,controller",
        "node.id": str(node.node_id),
        "listeners": f"{listener},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": listener,
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(node.data_folder),
    }
    if len(nodes) == 1:
        settings["controller.quorum.bootstrap.servers"] = f"{HOST}:{node.controller_port}"
    else:
        settings["controller.quorum.voters"] = ",".join(f"{n.node_id}@{HOST}:{n.controller_port}" for n in nodes)
    return settings | cluster_settings(len(nodes), profile)


def render_properties(settings: Mapping[str, str]) -> str:
    """Write settings as a Java properties file.

    Args:
        settings: Names to values; backslashes and line ends in values are escaped, since a path may hold the first.

    Returns:
        One `name=value` line each, in the given order.
    """
    escaped = {name: value.replace("\\", "\\\\").replace("\n", "\\n") for name, value in settings.items()}
    return "".join(f"{name}={value}\n" for name, value in escaped.items())


def container_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Write settings as the environment that the official image turns into server properties.

    Args:
        settings: Names to values.

    Returns:
        `KAFKA_` names, upper case, dots as underscores.
    """
    return {"KAFKA_" + name.upper().replace(".", "_"): value for name, value in settings.items()}


def render_log_settings(log_path: Path) -> str:
    """Write the log4j2 settings: everything from INFO to one file, which a start begins anew."""
    escaped = str(log_path).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <File name="file" fileName="{escaped}" append="false">
      <PatternLayout pattern="%d{{ISO8601}} %p %m (%c{{1}})%n"/>
    </File>
  </Appenders>
  <Loggers>
    <Root level="INFO"><AppenderRef ref="file"/></Root>
  </Loggers>
</Configuration>
"""


def jvm_flags(profile: Profile, broker_count: int) -> list[str]:
    """Choose the JVM's flags.

    Args:
        profile: `test` starts fast and stays small, 340 MB resident; `bench` lets the compiler do its best work.
        broker_count: How many brokers share the machine; three test brokers take 310 MB each.

    Returns:
        The flags. The performance file of the JVM is turned off: it lies in the temporary folder and outlives a kill.
    """
    common = ["-XX:-UsePerfData", "-Djava.awt.headless=true"]
    if profile is Profile.BENCH:
        return ["-Xms1g", "-Xmx1g", "-XX:+UseG1GC", *common]
    heap = ["-Xms256m", "-Xmx512m"] if broker_count == 1 else ["-Xms128m", "-Xmx384m"]
    return [*heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *common]
