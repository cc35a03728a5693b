"""`make bench`: every figure is a ratio of two passes in this one run; absolute numbers are printed beside it."""

import argparse
import json
import statistics
import subprocess
import sys
import uuid
from typing import Any, Final

from deploy.kafka.kafka_local import cluster
from deploy.kafka.kafka_local.settings import Profile
from tests.benchmarks.kit import kit_ratios
from tests.benchmarks.workload import PARTITIONS, Workload, load
from tests.support.records import create_topics

_PASS_TIMEOUT_S: Final = 600
_QUARANTINE_BYTES_MAX: Final = 1_048_588 + 65_536


def main() -> int:
    """Run the benchmarks that were asked for."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("--only", choices=["kit", "relay"], help="default: both")
    parser.add_argument("--records", type=int, default=1_000_000, help="default 1,000,000")
    parser.add_argument("--bytes", type=int, default=609, help="of a value, about; default 609")
    parser.add_argument("--rounds", type=int, default=3, help="copy and relay in turn; default 3")
    parser.add_argument("--bootstrap-servers", help="default: a local Apache Kafka of the bench profile")
    options = parser.parse_args()
    if options.only != "relay":
        kit_ratios()
    if options.only == "kit":
        return 0
    if options.bootstrap_servers:
        _relay_ratio(options.bootstrap_servers, options)
        return 0
    with cluster.running(profile=Profile.BENCH) as state:
        _relay_ratio(state.bootstrap_servers, options)
    return 0


def _relay_ratio(bootstrap: str, options: argparse.Namespace) -> None:
    """Copy and relay the same records in turn, and compare pair by pair."""
    workload = load(bootstrap, options.records, options.bytes, seed=1)
    _say(f"relay against a bare transactional copy, {options.records:,} records of {workload.value_bytes:.0f} bytes")
    ratios = []
    for number in range(1, options.rounds + 1):
        figures = {kind: _measured(kind, workload) for kind in ("copy", "relay")}
        ratios.append(figures["relay"]["rate"] / figures["copy"]["rate"])
        said = ", ".join(f"{kind} {f['rate']:,.0f} records/s, {f['cpu_us']:.1f} us CPU" for kind, f in figures.items())
        _say(f"  round {number}: ratio {ratios[-1]:.2f} ({said})")
    _say(f"relay/copy: median {statistics.median(ratios):.2f} (goal: at least 0.40)")


def _measured(kind: str, workload: Workload) -> dict[str, float]:
    """One pass in a process of its own, into topics of its own."""
    name = f"bench-{kind}-{uuid.uuid4().hex[:8]}"
    compact = {"cleanup.policy": "compact"}
    topics: dict[str, dict[str, Any]] = {f"{name}.unified": {"partitions": PARTITIONS}}
    if kind == "relay":
        topics[f"{name}.changelog"] = {"partitions": PARTITIONS, "config": compact}
        topics[f"{name}.relays"] = {"config": compact}
        topics[f"{name}.quarantine"] = {"config": {"max.message.bytes": str(_QUARANTINE_BYTES_MAX)}}
    create_topics(workload.bootstrap_servers, topics)
    command = [sys.executable, "-m", "tests.benchmarks.copies", kind]
    arguments = [workload.bootstrap_servers, name, str(workload.record_count)]
    answer = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, timeout=_PASS_TIMEOUT_S)
    report = json.loads(answer.stdout.splitlines()[-1])
    return {
        "rate": report["records"] / report["wall_s"],
        "cpu_us": report["cpu_s"] / report["records"] * 1e6,
    }


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
