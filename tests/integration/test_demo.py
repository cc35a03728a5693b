"""The demonstration and the recorder on a real broker."""

import json
import subprocess
import sys
from pathlib import Path

from confluent_kafka.admin import AdminClient

from ethogram import fold_run, parse_event, prove_gapless
from tests.support.kafka import KafkaBroker
from tests.support.records import create_topics, read_all
from tests.unit.demo.test_demo import LAST_LINE

TIMEOUT_S = 60.0
RECORD = (sys.executable, "-m", "relay", "record")


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the relay to its end."""
    return subprocess.run(
        arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def topic_names(kafka: KafkaBroker) -> set[str]:
    """The topics that there are."""
    return set(AdminClient({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=TIMEOUT_S).topics)


def test_the_demonstration_runs_on_a_real_broker_and_leaves_no_topic(kafka: KafkaBroker) -> None:
    """The same promises hold, start-up rules included, and its topics are gone afterwards."""
    before = topic_names(kafka)
    arguments = [sys.executable, "-m", "relay", "demo", "--seconds", "2"]
    done = run([*arguments, "--bootstrap-servers", kafka.bootstrap_servers])
    assert done.returncode == 0, done.stdout + done.stderr
    assert LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert done.stderr == ""
    assert {name for name in topic_names(kafka) - before if name.startswith("demo-")} == set()


def test_a_recorded_session_reaches_its_topic_keyed_by_run(kafka: KafkaBroker, topic_prefix: str) -> None:
    """Every event is in the source's topic, keyed by its run id, and the run is whole."""
    topic = f"{topic_prefix}source"
    create_topics(kafka.bootstrap_servers, {topic: {"partitions": 4}})
    options = ["--source", topic, "--bootstrap-servers", kafka.bootstrap_servers]
    done = run([*RECORD, *options, "--", sys.executable, "-c", "print('hello')"])
    assert (done.returncode, done.stdout) == (0, "hello\n")
    records = read_all(kafka.bootstrap_servers, topic)
    events = [parse_event(record.value or b"") for record in records]
    view = fold_run(events)
    assert view is not None
    assert view.outcome == "completed"
    assert prove_gapless(events) == {view.run_id: 7}
    assert {record.key for record in records} == {view.run_id.encode()}
    assert len({record.partition for record in records}) == 1


def test_a_file_reaches_its_topic_byte_for_byte(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Lines are sent as they stand, those that are no events with `--raw` alone."""
    topic = f"{topic_prefix}source"
    create_topics(kafka.bootstrap_servers, {topic: {"partitions": 1}})
    event = b'{ "v":1,"type":"x.y","runId":"r","seq":1,"ts":"t","payload":{"n":1.0} }'
    file, config = tmp_path / "events.jsonl", tmp_path / "relay.yaml"
    file.write_bytes(event + b"\nno event\n")
    tree = {
        "relay": {"unified_topic": "unified"},
        "sources": [{"topic": topic}],
        "kafka": {"bootstrap.servers": kafka.bootstrap_servers},
    }
    config.write_text(json.dumps(tree), encoding="utf-8")
    done = run([*RECORD, "--source", topic, "--config", str(config), "--raw", "--from-file", str(file)])
    assert done.returncode == 0, done.stderr
    records = read_all(kafka.bootstrap_servers, topic)
    assert [(record.key, record.value) for record in records] == [(b"r", event), (None, b"no event")]


def test_a_missing_topic_is_told_before_the_command_runs(kafka: KafkaBroker, topic_prefix: str) -> None:
    """A source that does not exist is not made by a typing error."""
    topic = f"{topic_prefix}missing"
    options = ["--source", topic, "--bootstrap-servers", kafka.bootstrap_servers]
    done = run([*RECORD, *options, "--", sys.executable, "-c", "print('ran')"])
    assert done.returncode == 4
    assert "ran" not in done.stdout
    assert topic not in topic_names(kafka)
