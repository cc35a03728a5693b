"""Processes and the folder that remembers them: never signal a stranger, leave nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.kafka.kafka_local import state as cluster_state
from deploy.kafka.kafka_local.errors import LocalKafkaError
from deploy.kafka.kafka_local.identity import ProcessIdentity, identity_of, is_alive, kill, parse_stat
from deploy.kafka.kafka_local.java import parse_major
from deploy.kafka.kafka_local.settings import Profile
from deploy.kafka.kafka_local.state import BrokerProcess, ClusterState

STAT = "77 (a (b) c) S 1 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 0 0"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for its input to end, which stands for a broker."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def identity(process: subprocess.Popen[bytes]) -> ProcessIdentity:
    """The identity of a process that runs."""
    found = identity_of(process.pid)
    assert found is not None
    return found


def test_stat_is_read_behind_the_name() -> None:
    """A command name may hold spaces and brackets; a zombie counts as gone."""
    assert parse_stat(STAT) == "4242"
    assert parse_stat(STAT.replace(") S ", ") Z ")) is None


def test_own_process_is_alive() -> None:
    """This process is the one with its id, and none with another start is."""
    own = identity_of(os.getpid())

    assert own is not None
    assert is_alive(own)
    assert not is_alive(replace(own, started=own.started + "1"))


def test_kill_spares_a_stranger_with_the_same_id(sleeper: subprocess.Popen[bytes]) -> None:
    """A reused id is not ours to signal."""
    kill(replace(identity(sleeper), started="0"))

    assert sleeper.poll() is None


def test_kill_waits_for_the_end(sleeper: subprocess.Popen[bytes]) -> None:
    """After kill returns the process is gone, reaped or not, and a second kill does nothing."""
    process = identity(sleeper)

    kill(process)
    kill(process)

    assert not is_alive(process)


def running_cluster(folder: Path, process: ProcessIdentity) -> ClusterState:
    """A cluster of one in a folder of its own, as a start leaves it."""
    made = cluster_state.missing_folders(folder)
    (folder / "broker-1" / "data").mkdir(parents=True)
    broker = BrokerProcess(1, 9092, process)
    state = ClusterState("4.3.1", Profile.TEST, 1, made, (broker,))
    cluster_state.save_state(folder, state)
    return state


def test_state_survives_the_file(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """What is saved is loaded, and says that the cluster runs."""
    state = running_cluster(tmp_path / "x" / "y", identity(sleeper))

    loaded = cluster_state.load_state(tmp_path / "x" / "y")

    assert loaded == state
    assert loaded.made_folders == (tmp_path / "x", tmp_path / "x" / "y")
    assert loaded.bootstrap_servers == "127.0.0.1:9092"
    assert loaded.is_running()
    assert not replace(loaded, broker_count=2).is_running()


def test_stop_ends_the_process_and_removes_every_trace(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """Process, data, and the folders made for them are gone; a second stop has nothing to do."""
    folder = tmp_path / "x" / "y"
    state = running_cluster(folder, identity(sleeper))

    assert cluster_state.stop(folder)

    assert state.alive() == ()
    assert list(tmp_path.iterdir()) == []
    assert not cluster_state.stop(folder)
    assert list(tmp_path.iterdir()) == []


def test_stop_keeps_what_others_put_there(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A folder that was there before stays, and so does a file of somebody else."""
    running_cluster(tmp_path, identity(sleeper))
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")

    cluster_state.stop(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_foreign_state_file_is_refused(tmp_path: Path) -> None:
    """A state that cannot be read is never guessed at."""
    (tmp_path / cluster_state.STATE_NAME).write_text('{"brokers": 1}', encoding="utf-8")

    with pytest.raises(LocalKafkaError, match="expected the state of a local cluster"):
        cluster_state.stop(tmp_path)


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_392"', 8),
        ("command not found", None),
    ],
)
def test_java_versions(text: str, major: int | None) -> None:
    """Both forms of a Java version are understood."""
    assert parse_major(text) == major
