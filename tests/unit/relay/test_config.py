"""The configuration: its defaults, its faults, and what lies over it."""

import socket
from pathlib import Path
from typing import Any

import pytest

from relay.config import Config, Topics, load_config, parse_config
from relay.errors import ConfigError
from tests.unit.relay.samples import VALID_CONFIG, config_of

SECRET = "hunter2"  # noqa: S105 - what must never be shown


def faults_of(tree: object, environment: dict[str, str] | None = None) -> list[str]:
    """The faults of a configuration."""
    with pytest.raises(ConfigError) as caught:
        parse_config(tree, environment or {})
    assert str(caught.value) == "\n".join(caught.value.faults)
    return caught.value.faults


def changed(**sections: Any) -> dict[str, Any]:  # noqa: ANN401 - a section as the YAML gives it
    """The valid tree with sections' keys changed or added; what is no mapping stands for the whole section."""
    tree = dict(VALID_CONFIG)
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section} if isinstance(section, dict) else section
    return tree


def test_every_default() -> None:
    """A file with only what must be said has the documented defaults."""
    config = parse_config(VALID_CONFIG | {"relay": {"unified_topic": "u"}}, {})
    assert config.relay.model_dump() == {
        "name": "ethogram-relay",
        "unified_topic": "u",
        "instance_id": config.relay.instance_id,
        "changelog_topic": None,
        "relays_topic": None,
        "quarantine_topic": None,
        "commit_interval_ms": 100,
        "commit_records_max": 50_000,
        "commit_bytes_max": 67_108_864,
        "own_run_max_age": 86_400_000,
        "forget_finished_after": 604_800_000,
        "forget_idle_after": 2_592_000_000,
        "drain_timeout": 20_000,
        "revoke_timeout": 5_000,
        "transaction_call_timeout": 10_000,
        "start_up_timeout": 60_000,
    }
    assert config.topics == Topics(
        "u", "ethogram-relay.changelog", "ethogram-relay.relays", "ethogram-relay.quarantine"
    )
    assert config.topics.all() == (
        "u",
        "ethogram-relay.changelog",
        "ethogram-relay.relays",
        "ethogram-relay.quarantine",
    )
    assert config.source_topics == ("a", "b")
    assert config.sources[0].model_dump() == {
        "topic": "a",
        "validation": "enforce",
        "after_refusal": "hold",
        "partitioner": "any",
    }
    assert config.http.model_dump() == {"host": "127.0.0.1", "port": 9464}


def test_the_instance_is_the_host_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an instance id it is the host name, made fit to be part of a name."""
    monkeypatch.setattr(socket, "gethostname", lambda: "pod 1/ü.example")
    tree = VALID_CONFIG | {"relay": {"unified_topic": "u"}}
    assert parse_config(tree, {}).identity == "ethogram-relay/pod-1--.example"
    monkeypatch.setattr(socket, "gethostname", lambda: "")
    assert parse_config(tree, {}).identity == "ethogram-relay/relay"


def test_names_follow_the_relays_name() -> None:
    """The relay's own topics are named after it, unless they are given."""
    config = config_of(relay={"name": "n", "relays_topic": "other"})
    assert config.topics == Topics("u", "n.changelog", "other", "n.quarantine")
    assert config.identity == "n/i"


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [("1ms", 1), ("30s", 30_000), ("5m", 300_000), ("24h", 86_400_000), ("7d", 604_800_000)],
)
def test_durations_have_units(written: str, milliseconds: int) -> None:
    """A duration is a number and its unit, held in milliseconds."""
    assert config_of(relay={"drain_timeout": written}).relay.drain_timeout == milliseconds


@pytest.mark.parametrize("written", ["30", 30, "", "s", "1.5h", "1 h", "-1s", "٣s", "1w", None, "1S"])
def test_durations_without_a_unit_are_refused(written: object) -> None:
    """Anything else is no duration, and the fault says what one looks like."""
    (fault,) = faults_of(changed(relay={"drain_timeout": written}))
    assert fault.startswith("relay.drain_timeout: expected a duration with its unit, such as 30s, 24h or 7d, got ")


@pytest.mark.parametrize(
    ("tree", "faults"),
    [
        (None, ["the file: expected a mapping with relay, sources and kafka, got nothing"]),
        ([], ["the file: expected a mapping with relay, sources and kafka, got a list"]),
        (changed(relay={"nme": "x"}), ["relay.nme: expected no such key, got an unknown key"]),
        (changed(extra=[]), ["extra: expected no such key, got an unknown key"]),
        (changed(relay=[]), ["relay: expected a mapping, got a list"]),
        (changed(kafka="text"), ["kafka: expected a mapping, got text"]),
        (VALID_CONFIG | {"sources": {"topic": "a"}}, ["sources: expected a list, got a mapping"]),
        (changed(sources=[]), ["sources: expected at least one entry, got a list"]),
        (changed(sources=[{"topic": 5}]), ["sources[0].topic: expected text, got 5"]),
        (changed(sources=["a"]), ['sources[0]: expected a mapping, got "a"']),
        (changed(sources=[{"topic": "a"}, {}]), ["sources[1].topic: expected a value, got nothing"]),
        (
            changed(sources=[{"topic": "a", "validation": "both"}]),
            ["sources[0].validation: expected 'enforce' or 'report', got \"both\""],
        ),
        (
            changed(sources=[{"topic": "a b"}]),
            ["sources[0].topic: expected a name of letters, digits, '.', '_' and '-', got \"a b\""],
        ),
        (changed(relay={"commit_interval_ms": "5"}), ['relay.commit_interval_ms: expected an integer, got "5"']),
        (changed(relay={"commit_interval_ms": True}), ["relay.commit_interval_ms: expected an integer, got true"]),
        (changed(relay={"commit_interval_ms": 0}), ["relay.commit_interval_ms: expected at least 1, got 0"]),
        (
            changed(relay={"commit_interval_ms": 10_001}),
            ["relay.commit_interval_ms: expected at most 10000, got 10001"],
        ),
        (changed(relay={"drain_timeout": "0s"}), ['relay.drain_timeout: expected at least 1, got "0s"']),
        (changed(http={"port": 65_536}), ["http.port: expected at most 65535, got 65536"]),
        (
            changed(relay={"name": "n" * 101}),
            ["relay.name: expected a name of letters, digits, '.', '_' and '-', got text of 101 characters"],
        ),
        (
            changed(sources=[{"topic": "a"}, {"topic": "a"}]),
            ["sources[1].topic: expected a topic of its own, got a, which is sources[0].topic already"],
        ),
        (
            changed(relay={"unified_topic": "b"}),
            ["relay.unified_topic: expected a topic of its own, got b, which is sources[1].topic already"],
        ),
        (
            changed(relay={"relays_topic": "ethogram-relay.changelog"}),
            [
                (
                    "relay.relays_topic: expected a topic of its own, got ethogram-relay.changelog, "
                    "which is relay.changelog_topic already"
                )
            ],
        ),
        (
            changed(kafka={"acks": "all"}),
            ["kafka.acks: expected not to be set (a transaction needs all), got a value"],
        ),
        (
            changed(kafka={"bootstrap.servers": ""}),
            ["kafka.bootstrap.servers: expected host:port, or several with commas between, got nothing"],
        ),
        (
            changed(kafka={"batch.size": "big"}),
            ["kafka.batch.size: expected an integer of 1 or more, got another value"],
        ),
        (
            changed(kafka={"sasl.password": [SECRET]}),
            ["kafka.sasl.password: expected text, a number, true or false, got a list"],
        ),
        (
            changed(kafka={"sasl.password": None}),
            ["kafka.sasl.password: expected text, a number, true or false, got nothing"],
        ),
    ],
)
def test_faults_name_path_wanted_and_got(tree: object, faults: list[str]) -> None:
    """Each fault says where it stands, what is wanted and what is there."""
    assert faults_of(tree) == faults


def test_missing_sections_are_named() -> None:
    """An empty file lacks relay, sources and kafka."""
    assert faults_of({}) == [
        "relay: expected a value, got nothing",
        "sources: expected a value, got nothing",
        "kafka: expected a value, got nothing",
    ]


def test_all_faults_are_in_one_report() -> None:
    """Unknown keys, wrong types, forbidden settings and faults of variables come together."""
    tree = {
        "relay": {"unified_topic": "u", "commit_interval_ms": "x", "nme": 1},
        "sources": [{"topic": "a", "partitioner": "crc"}],
        "kafka": {"acks": 1, "group.id": "g"},
        "http": {"port": -1},
    }
    environment = {"RELAY_HTTP_HOST_FILE": "/nowhere", "RELAY_DRAIN_TIMEOUT": "20"}
    assert sorted(faults_of(tree, environment)) == sorted(
        [
            "RELAY_HTTP_HOST_FILE: expected the path of a readable UTF-8 file, got one that cannot be read",
            "RELAY_DRAIN_TIMEOUT: expected a duration with its unit, such as 30s, 24h or 7d, got 20",
            'relay.commit_interval_ms: expected an integer, got "x"',
            "relay.nme: expected no such key, got an unknown key",
            "sources[0].partitioner: expected 'any' or 'murmur2', got \"crc\"",
            "http.port: expected at least 0, got -1",
            "kafka.acks: expected not to be set (a transaction needs all), got a value",
            "kafka.group.id: expected not to be set (it is relay.name), got a value",
            "kafka.bootstrap.servers: expected host:port, or several with commas between, got nothing",
        ]
    )


def test_kafka_settings_pass_through() -> None:
    """Settings of the client keep their names and values, whatever kind of scalar they are."""
    given = {"bootstrap.servers": "h:1", "linger.ms": 5, "socket.keepalive.enable": True, "x.y": 1.5}
    assert config_of(kafka=given).kafka == {**VALID_CONFIG["kafka"], **given}


def test_the_environment_lies_over_the_file() -> None:
    """Variables win over the file in every section, read as YAML scalars, Kafka's as text."""
    environment = {
        "RELAY_COMMIT_INTERVAL_MS": "250",
        "RELAY_UNIFIED_TOPIC": "other",
        "RELAY_HTTP_PORT": "0",
        "RELAY_KAFKA_BOOTSTRAP_SERVERS": "h:1",
        "RELAY_KAFKA_LOG_LEVEL": "7",
        "RELAY_SOURCES": "[{topic: c, validation: report}]",
        "OTHER": "x",
    }
    config = parse_config(VALID_CONFIG, environment)
    assert (config.relay.commit_interval_ms, config.relay.unified_topic, config.http.port) == (250, "other", 0)
    assert config.kafka == {"bootstrap.servers": "h:1", "log_level": "7"}
    assert [(source.topic, source.validation) for source in config.sources] == [("c", "report")]


def test_the_environment_may_be_all_there_is() -> None:
    """A file may leave whole sections to the environment."""
    environment = {
        "RELAY_UNIFIED_TOPIC": "u",
        "RELAY_SOURCES": "[{topic: a}]",
        "RELAY_KAFKA_BOOTSTRAP_SERVERS": "h:1",
    }
    assert parse_config({}, environment).source_topics == ("a",)


def test_faults_of_variables_name_the_variable() -> None:
    """What came from a variable is reported under the variable's name."""
    environment = {"RELAY_COMMIT_INTERVAL_MS": "soon", "RELAY_NME": "x", "RELAY_KAFKA_ACKS": SECRET}
    assert sorted(faults_of(VALID_CONFIG, environment)) == [
        'RELAY_COMMIT_INTERVAL_MS: expected an integer, got "soon"',
        "RELAY_KAFKA_ACKS: expected not to be set (a transaction needs all), got a value",
        "RELAY_NME: expected no such key, got an unknown key",
    ]
    assert faults_of(VALID_CONFIG, {"RELAY_SOURCES": "{"}) == ['RELAY_SOURCES: expected a list, got "{"']


def test_secrets_are_read_from_files(tmp_path: Path) -> None:
    """`…_FILE` names a file that holds the value, its last line end taken off, whatever the text looks like."""
    path = tmp_path / "secret"
    path.write_text("12345\r\n", encoding="utf-8")
    config = parse_config(VALID_CONFIG, {"RELAY_KAFKA_SASL_PASSWORD_FILE": str(path)})
    assert config.kafka["sasl.password"] == "12345"
    path.write_text("[a: b]", encoding="utf-8")
    config = parse_config(VALID_CONFIG, {"RELAY_KAFKA_SASL_PASSWORD_FILE": str(path)})
    assert config.kafka["sasl.password"] == "[a: b]"


def test_a_value_and_its_file_are_one_too_many(tmp_path: Path) -> None:
    """A variable and its `…_FILE` together are a fault that names both and shows neither value."""
    path = tmp_path / SECRET
    path.write_text(SECRET, encoding="utf-8")
    environment = {"RELAY_KAFKA_SASL_PASSWORD": SECRET, "RELAY_KAFKA_SASL_PASSWORD_FILE": str(path)}
    assert faults_of(VALID_CONFIG, environment) == [
        (
            "RELAY_KAFKA_SASL_PASSWORD_FILE: expected either RELAY_KAFKA_SASL_PASSWORD or "
            "RELAY_KAFKA_SASL_PASSWORD_FILE, got both"
        )
    ]


def test_unreadable_secret_files_are_faults(tmp_path: Path) -> None:
    """A file that is not there, is a folder or holds no UTF-8 is a fault of its variable; nothing of it is shown."""
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff")
    for path in (tmp_path / "missing", tmp_path, binary):
        assert faults_of(VALID_CONFIG, {"RELAY_KAFKA_SASL_PASSWORD_FILE": str(path)}) == [
            "RELAY_KAFKA_SASL_PASSWORD_FILE: expected the path of a readable UTF-8 file, got one that cannot be read"
        ]


@pytest.mark.parametrize(
    "name",
    [
        "RELAY_SERVICE_HOST",
        "RELAY_SERVICE_PORT",
        "RELAY_SERVICE_PORT_METRICS",
        "RELAY_PORT",
        "RELAY_PORT_9464_TCP",
        "RELAY_PORT_9464_TCP_ADDR",
        "RELAY_PORT_53_UDP_PROTO",
    ],
)
def test_what_kubernetes_injects_is_not_ours(name: str) -> None:
    """Variables that stand in every pod beside a Service called `relay` are ignored."""
    assert parse_config(VALID_CONFIG, {name: "tcp://10.0.0.1:9464"}) == parse_config(VALID_CONFIG, {})


@pytest.mark.parametrize(
    "tree",
    [
        changed(kafka={"sasl.password": [SECRET]}),
        changed(kafka={"sasl.password": {SECRET: SECRET}}),
        changed(kafka=SECRET),
        changed(kafka=[SECRET]),
        changed(kafka={"group.id": SECRET}),
        changed(kafka={"sasl.password": SECRET, "bootstrap.servers": None}),
        changed(kafka={"batch.size": SECRET}),
    ],
)
def test_secrets_never_enter_messages(tree: object) -> None:
    """No fault shows a value of the `kafka` section, whatever is wrong with it."""
    assert SECRET not in "\n".join(faults_of(tree))


def test_a_file_is_read(tmp_path: Path) -> None:
    """The file is YAML in UTF-8."""
    path = tmp_path / "relay.yaml"
    path.write_text(
        "relay:\n  unified_topic: u\nsources:\n  - topic: a\nkafka:\n  bootstrap.servers: h:1\n", encoding="utf-8"
    )
    assert isinstance(load_config(path, {}), Config)


def test_unreadable_files_are_faults(tmp_path: Path) -> None:
    """A file that is not there, or not YAML, is a fault that says where."""
    path = tmp_path / "relay.yaml"
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    assert caught.value.faults == [f"{path}: expected a readable file, got No such file or directory"]
    for text, place in ((b"relay:\n\t- x", f"{path}:2:1"), (b"\xff", str(path))):
        path.write_bytes(text)
        with pytest.raises(ConfigError) as caught:
            load_config(path, {})
        assert caught.value.faults == [f"{place}: expected YAML in UTF-8"]


def test_a_configuration_does_not_change() -> None:
    """The value is frozen."""
    with pytest.raises(Exception, match="frozen"):
        config_of().relay.name = "other"


@pytest.mark.parametrize(("timeout_ms", "longest_ms"), [(None, 2500), ("6000", 1000)])
def test_a_transaction_must_end_before_its_time_out(timeout_ms: str | None, longest_ms: int) -> None:
    """With a backlog a transaction gathers for three intervals: they must take half of its time-out at most."""
    kafka = {"bootstrap.servers": "h:1"} | ({} if timeout_ms is None else {"transaction.timeout.ms": timeout_ms})

    def tree(interval_ms: int) -> dict[str, Any]:
        relay = {"unified_topic": "u", "commit_interval_ms": interval_ms}
        return {"relay": relay, "sources": [{"topic": "a"}], "kafka": kafka}

    assert parse_config(tree(longest_ms), {}).relay.commit_interval_ms == longest_ms
    with pytest.raises(ConfigError) as caught:
        parse_config(tree(longest_ms + 1), {})
    (fault,) = caught.value.faults
    assert fault.startswith(f"relay.commit_interval_ms: expected at most {longest_ms}, a sixth of")
