"""The demonstration, whole, on the embedded cluster; and that cluster alone."""

import re
import subprocess
import sys

import pytest
from confluent_kafka.admin import AdminClient

from relay.demo import embedded
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
