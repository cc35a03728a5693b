"""What brokers are told, as pure values."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from deploy.kafka.kafka_local.settings import (
    Node,
    Profile,
    cluster_settings,
    container_environment,
    jvm_flags,
    new_cluster_id,
    node_settings,
    render_log_settings,
    render_properties,
)


def node(number: int) -> Node:
    """A node with telling ports."""
    return Node(number, 9090 + number, 9190 + number, Path(f"/k/broker-{number}"))


def test_lone_node_finds_its_quorum_by_bootstrap() -> None:
    """A standalone node is formatted without voters, so it must not name any."""
    settings = node_settings(node(1), [node(1)], Profile.TEST)

    assert settings["controller.quorum.bootstrap.servers"] == "127.0.0.1:9191"
    assert "controller.quorum.voters" not in settings
    assert settings["transaction.state.log.min.isr"] == "1"
    assert settings["log.dirs"] == "/k/broker-1/data"


def test_three_nodes_are_voters_with_three_replicas() -> None:
    """Three brokers survive the loss of one: replication 3, of which 2 must have a record."""
    nodes = [node(1), node(2), node(3)]

    settings = node_settings(nodes[1], nodes, Profile.TEST)

    assert settings["controller.quorum.voters"] == "1@127.0.0.1:9191,2@127.0.0.1:9192,3@127.0.0.1:9193"
    assert "controller.quorum.bootstrap.servers" not in settings
    assert settings["node.id"] == "2"
    assert settings["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9092"
    for name in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        assert settings[f"{name}.replication.factor"] == "3"
    assert settings["min.insync.replicas"] == "2"


def test_everything_listens_on_loopback_alone() -> None:
    """No setting may open the broker to the network."""
    for name, value in node_settings(node(1), [node(1)], Profile.BENCH).items():
        assert "://" not in value or all("://127.0.0.1:" in part for part in value.split(",")), name


@pytest.mark.parametrize("profile", list(Profile))
def test_only_the_test_profile_hurries(profile: Profile) -> None:
    """The background threads that tests want fast would cost a benchmark."""
    hurried = "transaction.abort.timed.out.transaction.cleanup.interval.ms" in cluster_settings(1, profile)

    assert hurried == (profile is Profile.TEST)


def test_benchmarks_never_run_on_the_quick_compiler() -> None:
    """TieredStopAtLevel=1 starts faster and runs slower."""
    assert "-XX:TieredStopAtLevel=1" in jvm_flags(Profile.TEST, 1)
    assert "-XX:TieredStopAtLevel=1" not in jvm_flags(Profile.BENCH, 1)
    assert "-Xmx384m" in jvm_flags(Profile.TEST, 3)


def test_properties_escape_backslashes_and_line_ends() -> None:
    """A value is one line, and a backslash in it stays one."""
    assert render_properties({"a": "1", "b": "x\\y\nz"}) == "a=1\nb=x\\\\y\\nz\n"


def test_container_environment_is_the_images_form() -> None:
    """The official image reads `log.dirs` from `KAFKA_LOG_DIRS`."""
    assert container_environment({"log.dirs": "/d"}) == {"KAFKA_LOG_DIRS": "/d"}


def test_log_settings_are_xml_with_any_path() -> None:
    """A path may hold characters that mean something in XML."""
    root = ET.fromstring(render_log_settings(Path('/a & "b"/<c>.log')))  # noqa: S314 - written by ourselves

    appender = root.find("Appenders/File")
    assert appender is not None
    assert appender.get("fileName") == '/a & "b"/<c>.log'


def test_cluster_ids_are_fresh_and_fit_kafka() -> None:
    """22 characters of URL-safe base64 and no leading dash, which would read as an option."""
    drawn = {new_cluster_id() for _ in range(200)}

    assert len(drawn) == 200
    assert all(len(text) == 22 and not text.startswith("-") for text in drawn)
