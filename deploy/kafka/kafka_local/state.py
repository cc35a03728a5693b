"""What a running cluster leaves in its folder, and what may be done with that alone: ask after it, and stop it.

Imports no Kafka client, so that the watcher that outlives a killed test run stays small.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deploy.kafka.kafka_local import identity
from deploy.kafka.kafka_local.errors import LocalKafkaError
from deploy.kafka.kafka_local.identity import ProcessIdentity
from deploy.kafka.kafka_local.settings import HOST, Profile

STATE_NAME = "cluster.json"
LOCK_NAME = "lock"
NODE_FOLDER_PATTERN = "broker-*"


@dataclass(frozen=True)
class BrokerProcess:
    """One started broker: its node number from 1, its port, and its process."""

    node_id: int
    port: int
    process: ProcessIdentity

    @property
    def address(self) -> str:
        """`host:port` for clients."""
        return f"{HOST}:{self.port}"


@dataclass(frozen=True)
class ClusterState:
    """A cluster as its folder tells it.

    Attributes:
        version: The Apache Kafka version.
        profile: What it was started for.
        broker_count: How many brokers were asked for; fewer in `brokers` means that the start was cut short.
        made_folders: The folders that did not exist before, outermost first; only these are removed.
        brokers: The brokers that were started.
    """

    version: str
    profile: Profile
    broker_count: int
    made_folders: tuple[Path, ...]
    brokers: tuple[BrokerProcess, ...]

    @property
    def bootstrap_servers(self) -> str:
        """Every broker's address, with commas between."""
        return ",".join(broker.address for broker in self.brokers)

    def alive(self) -> tuple[BrokerProcess, ...]:
        """Those of the brokers whose very process still runs."""
        return tuple(broker for broker in self.brokers if identity.is_alive(broker.process))

    def is_running(self) -> bool:
        """Whether every broker that was asked for runs."""
        return len(self.alive()) == self.broker_count


def save_state(folder: Path, state: ClusterState) -> None:
    """Write the state, at once or not at all."""
    path = folder / STATE_NAME
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(dataclasses.asdict(state), default=str, indent=1), encoding="utf-8")
    beside.replace(path)


def load_state(folder: Path) -> ClusterState | None:
    """Read the state.

    Args:
        folder: The cluster's folder.

    Returns:
        The state, or None if the folder holds none.

    Raises:
        LocalKafkaError: If the file is not one that `save_state` wrote.
    """
    path = folder / STATE_NAME
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        brokers = tuple(
            BrokerProcess(b["node_id"], b["port"], ProcessIdentity(**b["process"])) for b in read["brokers"]
        )
        return ClusterState(
            version=read["version"],
            profile=Profile(read["profile"]),
            broker_count=read["broker_count"],
            made_folders=tuple(Path(text) for text in read["made_folders"]),
            brokers=brokers,
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise LocalKafkaError(
            f"{path}: expected the state of a local cluster, got something else ({type(error).__name__}): "
            f"end its processes by hand and remove {folder}"
        ) from error


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """Name the folders that making `folder` would make, outermost first."""
    return tuple(reversed([path for path in (folder, *folder.parents) if not path.exists()]))


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the cluster's folder, which exists, for as long as the block runs.

    The lock file may go while others wait for it, since stopping removes the folder: they notice and begin again.
    """
    path = folder / LOCK_NAME
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists() and os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                yield
                return


def clear_nodes(folder: Path) -> None:
    """Remove the brokers' folders and the state; the lock stays, since the caller holds it and goes on."""
    for node_folder in folder.glob(NODE_FOLDER_PATTERN):
        shutil.rmtree(node_folder)
    (folder / STATE_NAME).unlink(missing_ok=True)


def clear(folder: Path, made_folders: tuple[Path, ...]) -> None:
    """Remove what a cluster put into its folder, and the folders made for it if they are then empty.

    Args:
        folder: The cluster's folder; the caller holds its lock and is done with it.
        made_folders: As in `ClusterState`.
    """
    clear_nodes(folder)
    (folder / LOCK_NAME).unlink(missing_ok=True)
    for made in reversed(made_folders):
        with contextlib.suppress(OSError):  # Somebody put something there since, or it is gone already.
            made.rmdir()


def kill_brokers(state: ClusterState) -> None:
    """End every process of the cluster that still runs."""
    for broker in state.brokers:
        identity.kill(broker.process)


def stop(folder: Path) -> bool:
    """End every process of the cluster and remove what it left.

    The brokers are killed outright: their data goes with them, and an orderly shutdown of several would wait for a
    quorum that they lose on the way.

    Args:
        folder: The cluster's folder.

    Returns:
        Whether there was anything to stop or to remove.

    Raises:
        LocalKafkaError: If the folder's state cannot be read.
    """
    if load_state(folder) is None:
        return False
    with folder_lock(folder):
        state = load_state(folder)
        if state is None:
            clear(folder, ())
            return False
        kill_brokers(state)
        clear(folder, state.made_folders)
    return True
