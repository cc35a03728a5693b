"""A cluster or a configuration that would break the relay's promises is refused at the start, with what to change."""

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import KafkaBroker
from tests.support.plan import SourcePlan, whole_run
from tests.support.relay_process import REPOSITORY, RelayProcess, write_config
from tests.support.rig import Rig

OK, FOUND, CONFIGURATION, STARTUP = 0, 1, 3, 4
COMMAND_TIMEOUT_S = 60.0
AB = (SourcePlan("a"), SourcePlan("b"))


def faults(relay: RelayProcess) -> list[str]:
    """What the relay's log says is to be changed."""
    lines = [json.loads(line) for line in relay.log().splitlines() if line.startswith("{")]
    return [line["fault"] for line in lines if "fault" in line]


def refused_with(relay: RelayProcess, code: int) -> list[str]:
    """Start the relay, wait for its end with a code, and give the faults that it told."""
    with relay:
        assert relay.wait_exit() == code, relay.log_tail()
    return faults(relay)


def command(path: Path, *arguments: str) -> tuple[int, str]:
    """Run another command of the relay; returns its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "relay", *arguments, "--config", str(path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=COMMAND_TIMEOUT_S,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_missing_topics_are_all_named_and_can_be_created(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Every missing topic is named in one report; `topics create` makes them, and the relay then works."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB, partitions=3)
    outputs = [rig.outputs.unified, rig.outputs.changelog, rig.outputs.relays, rig.outputs.quarantine]
    rig.create_topics(leave_out=["unified", "changelog", "relays", "quarantine", "b"])
    told = refused_with(rig.relay(), STARTUP)
    missing = [*outputs, rig.topics[1]]
    assert [[name for name in missing if fault.startswith(f"{name}:")] for fault in told].count([]) == 0
    assert len(told) == len(missing)
    path = write_config(tmp_path / "create.yaml", rig.config())

    code, said = command(path, "topics", "create")
    assert (code, rig.topics[1] in said) == (FOUND, True), "a source is made only when asked for"
    code, said = command(path, "topics", "create", "--sources", "--partitions", "3")
    assert code == OK, said

    rig.produce(1, whole_run("r", 3))
    with rig.relay(life="-after") as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == OK
    assert rig.ledger.prove().forwarded.total() == 3


@pytest.mark.parametrize(
    ("name", "spec", "wanted"),
    [
        ("changelog", {"cleanup.policy": "delete"}, "cleanup.policy=compact"),
        ("changelog", {"cleanup.policy": "compact,delete"}, "cleanup.policy=compact"),
        ("relays", {"cleanup.policy": "delete"}, "cleanup.policy=compact"),
        ("unified", {"cleanup.policy": "compact"}, "cleanup.policy=delete"),
        ("unified", {"message.timestamp.type": "LogAppendTime"}, "message.timestamp.type=CreateTime"),
        ("unified", {"message.timestamp.after.max.ms": "1"}, "message.timestamp.after.max.ms"),
        ("quarantine", {"max.message.bytes": "1048588"}, "max.message.bytes"),
        ("unified", {"min.insync.replicas": "2"}, "min.insync.replicas"),
        ("a", {"cleanup.policy": "compact"}, "cleanup.policy=delete"),
    ],
)
def test_wrong_topic_settings_are_named(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, name: str, spec: Mapping[str, str], wanted: str
) -> None:
    """A topic whose settings would break a promise is refused by name, with the setting that is wanted."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB, topic_settings={name: spec})
    rig.create_topics()
    told = [fault for fault in refused_with(rig.relay(), STARTUP) if wanted in fault]
    assert told
    assert all(fault.startswith(f"{rig.name}.{name}:") for fault in told)


def test_wrong_partition_counts_are_named(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Sources of different partition counts, a changelog of another, and relays in several partitions are refused."""
    two = Rig(kafka, f"{topic_prefix}x-", tmp_path, AB, partitions=2)
    two.create_topics(leave_out=["b", "changelog", "relays"])
    three = Rig(kafka, f"{topic_prefix}x-", tmp_path, AB, partitions=3)
    three.create_topics(leave_out=["a", "unified", "quarantine", "relays", "changelog"])
    compacted = {"relays": {"cleanup.policy": "compact"}}
    five = Rig(kafka, f"{topic_prefix}x-", tmp_path, (SourcePlan("relays"),), partitions=5, topic_settings=compacted)
    five.create_topics(leave_out=["unified", "quarantine"])

    told = refused_with(two.relay(), STARTUP)

    assert len(told) == 3
    assert f"{two.topics[0]} 2, {two.topics[1]} 3" in told[0]
    assert told[1].startswith(f"{two.outputs.changelog}:")
    assert "got 5" in told[1]
    assert told[2].startswith(f"{two.outputs.relays}:")
    assert "got 5" in told[2]


def test_faults_of_the_configuration_come_in_one_report(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Unknown keys, wrong types and Kafka settings that would break exactly-once are refused by path, all at once."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB)
    config: dict[str, Any] = rig.config()
    config["relay"] |= {"commit_interval": 5, "commit_records_max": "many"}
    config["kafka"] |= {"isolation.level": "read_uncommitted", "acks": 1, "enable.auto.commit": True}
    config["sources"].append({"topic": rig.outputs.unified})

    told = refused_with(rig.relay(config=config), CONFIGURATION)

    for path in (
        "relay.commit_interval:",
        "relay.commit_records_max:",
        "kafka.isolation.level:",
        "kafka.acks:",
        "kafka.enable.auto.commit:",
    ):
        assert any(fault.startswith(path) for fault in told), (path, told)


def test_output_cannot_be_a_source(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A topic that the relay writes cannot be one that it reads."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB)
    config: dict[str, Any] = rig.config()
    config["sources"].append({"topic": rig.outputs.unified})
    (fault,) = refused_with(rig.relay(config=config), CONFIGURATION)
    assert rig.outputs.unified in fault


def test_cluster_that_does_not_answer_is_named(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Without a cluster the relay waits for as long as it is told, and then says what was missing."""
    rig = Rig(
        kafka,
        topic_prefix,
        tmp_path,
        config={"relay": {"start_up_timeout": "3s"}, "kafka": {"bootstrap.servers": "127.0.0.1:1"}},
    )
    (fault,) = refused_with(rig.relay(), STARTUP)
    assert fault.startswith("kafka.bootstrap.servers:")


def test_port_in_use_is_named(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A port for metrics and probes that cannot be listened on is a fault of the configuration, named with the port."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port: int = taken.getsockname()[1]
        config = {**rig.config(), "http": {"host": "127.0.0.1", "port": port}}
        (fault,) = refused_with(rig.relay(config=config), CONFIGURATION)
    assert str(port) in fault
