"""The demonstration, whole, on the embedded cluster; and that cluster alone."""

import re
import subprocess
import sys

import pytest
from confluent_kafka.admin import AdminClient

from relay.demo import embedded, ground
from relay.demo.embedded import EmbeddedCluster
from relay.errors import StartUpError

LAST_LINE = re.compile(r"demo: consumed (\d+), forwarded (\d+), refused (\d+), lost 0, changed 0")
TIMEOUT_S = 45.0


def test_a_demonstration_ends_by_itself_and_keeps_every_promise() -> None:
    """The last line is the result, nothing is lost or changed, every cause is seen, and standard error is empty."""
    done = subprocess.run(
        [sys.executable, "-m", "relay", "demo", "--seconds", "2"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    match = LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert match is not None
    consumed, forwarded, refused = map(int, match.groups())
    assert consumed == forwarded + refused
    assert refused == 12
    for cause in ("malformed", "over_bound", "finished", "duplicate", "gap"):
        assert re.search(rf"^  {cause} +\d+  ", done.stdout, re.MULTILINE), cause


def _with_relay(body: str) -> subprocess.CompletedProcess[str]:
    """Run a short demonstration whose relay does something else."""
    script = f"""
from relay.app import RelayApp
from relay.cli import main
from relay.errors import Fatal
from relay.kafka.producer import TransactionalProducer
{body}
raise SystemExit(main(["demo", "--seconds", "1"]))
"""
    arguments = [sys.executable, "-c", script]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def test_a_relay_that_fails_is_told_in_the_numbers() -> None:
    """A relay that never forwarded anything has lost everything that was sent, and the exit code says so."""
    done = _with_relay("def fail(self): raise Fatal('told to')\nRelayApp.run = fail")
    assert done.returncode == 1
    assert "broken: the relay: Fatal: told to" in done.stdout
    match = re.fullmatch(
        r"demo: consumed (\d+), forwarded 0, refused 0, lost (\d+), changed 0", done.stdout.splitlines()[-1]
    )
    assert match is not None
    assert match[1] == match[2] != "0"
    assert done.stderr == ""


def test_a_relay_that_changes_one_header_is_told_in_the_numbers() -> None:
    """The comparison is of what was read, not of what the relay says: a relay that drops headers is caught."""
    body = """
forward = TransactionalProducer.forward
def without_headers(self, topic, records):
    forward(self, topic, [record._replace(headers=None) for record in records])
TransactionalProducer.forward = without_headers
"""
    done = _with_relay(body)
    assert done.returncode == 1
    assert re.fullmatch(r"demo: .*, lost 0, changed [1-9]\d*", done.stdout.splitlines()[-1])


def test_a_cluster_that_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The error says what was expected and where, and the client keeps quiet."""
    monkeypatch.setattr(ground, "_ANSWER_TIMEOUT_S", 0.2)
    with (
        pytest.raises(StartUpError, match=r"127\.0\.0\.1:1: expected a Kafka cluster that answers"),
        ground.real_ground("127.0.0.1:1"),
    ):
        raise AssertionError
    assert capfd.readouterr().err == ""


def test_embedded_topics_have_the_partitions_that_are_asked_for() -> None:
    """Partition counts are explicit, and the cluster answers while the block runs."""
    with EmbeddedCluster({"one": 1, "four": 4}) as cluster:
        client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        topics = client.list_topics(timeout=10).topics
        assert {name: len(topic.partitions) for name, topic in topics.items()} == {"one": 1, "four": 4}
        del client


def test_a_library_without_the_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what is missing and what to do instead."""
    monkeypatch.setattr(embedded, "_SIGNATURES", {"rd_kafka_no_such_function": (None, ())})
    with pytest.raises(StartUpError, match=r"rd_kafka_no_such_function.*--bootstrap-servers"):
        EmbeddedCluster({})
