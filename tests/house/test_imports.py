"""Directions of imports."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, Import, Module, imports_of, is_within, modules, report

IMPURE = ("datetime", "logging", "os", "random", "secrets", "socket", "subprocess", "threading", "time", "uuid")
"""What the judge may not see: clocks, chance, logs, the machine."""

CLIENT_AT = ("relay.kafka", "relay.topics_command", "relay.demo", "relay.record")
"""Where the Kafka client may be imported."""

EDGE_AT = ("relay.kafka", "relay.app", "relay.topics_command", "relay.demo", "relay.record")
"""Where Kafka's edge may be imported; everything else sees it through protocols."""

CLOCK_READERS = {
    "relay/clock.py": "it is the clock",
    "ethogram/sink.py": "a sink stamps by the machine's clock where its caller gives none",
    "ethogram/files/follow.py": "a follower waits in real time where its caller gives no sleep",
    "relay/app.py": "waits for a cluster that is starting; deadlines come from the injected clock",
    "relay/kafka/hashing.py": "bounds how long a command looks at a live topic",
    "relay/kafka/producer.py": "splits one time budget over the client's calls",
    "relay/kafka/relays.py": "bounds how long a live log is read",
    "relay/demo/demo_command.py": "a demonstration runs in real time",
    "relay/demo/readback.py": "bounds how long a live log is read",
}
"""Who may import `time` or `datetime`, and why."""


def found(*parts: str) -> Iterator[tuple[Module, Import]]:
    """Every import of these folders."""
    for module in modules(*parts):
        for one in imports_of(module):
            yield module, one


def test_the_kit_imports_orjson_and_the_standard_library() -> None:
    """`ethogram` imports itself, orjson and the standard library, and nothing of the relay."""
    findings = [
        module.at(one.line, f"ethogram imports only itself, orjson and the standard library, not {one.name}")
        for module, one in found("ethogram")
        if one.name.partition(".")[0] not in {"ethogram", "orjson", *sys.stdlib_module_names}
    ]
    assert not findings, report(findings)


def test_the_judge_is_pure() -> None:
    """`relay.judge` imports the kit, itself, plain records, and nothing that reads a clock, chance or the machine."""
    findings = [
        module.at(one.line, f"relay.judge imports ethogram, itself, relay.records and pure modules, not {one.name}")
        for module, one in found("relay")
        if is_within(module.name, "relay.judge")
        and not is_within(one.name, "ethogram", "relay.judge", "relay.records")
        and (one.name.partition(".")[0] not in sys.stdlib_module_names or is_within(one.name, *IMPURE))
    ]
    assert not findings, report(findings)


def test_the_client_is_imported_at_the_edge() -> None:
    """The Kafka client is imported where records come in and go out, and nowhere else."""
    findings = [
        module.at(one.line, f"confluent_kafka is imported only in {', '.join(CLIENT_AT)}")
        for module, one in found("ethogram", "relay", "conformance")
        if is_within(one.name, "confluent_kafka") and not is_within(module.name, *CLIENT_AT)
    ]
    assert not findings, report(findings)


def test_the_core_sees_the_edge_through_protocols() -> None:
    """Nothing but the joining place and the commands imports Kafka's edge; the loop does not."""
    findings = [
        module.at(one.line, f"relay.kafka is imported only in {', '.join(EDGE_AT)}, not in {module.name}")
        for module, one in found("ethogram", "relay", "conformance")
        if is_within(one.name, "relay.kafka") and not is_within(module.name, *EDGE_AT)
    ]
    assert not findings, report(findings)


def test_the_runner_judges_the_kit_alone() -> None:
    """`conformance` imports nothing of the relay."""
    findings = [
        module.at(one.line, f"conformance imports nothing of the relay, not {one.name}")
        for module, one in found("conformance")
        if is_within(one.name, "relay")
    ]
    assert not findings, report(findings)


def test_nothing_shipped_imports_the_tests() -> None:
    """What is installed works without the tests."""
    findings = [
        module.at(one.line, f"{module.name} does not import {one.name}")
        for module, one in found("ethogram", "relay", "conformance", "deploy")
        if is_within(one.name, "tests", "pytest", "hypothesis")
    ]
    assert not findings, report(findings)


def test_time_is_read_by_the_clock() -> None:
    """`time` and `datetime` are imported by the clock and by those listed with a reason, all of which are in use."""
    findings, used = [], set()
    for module, one in found("ethogram", "relay"):
        if is_within(one.name, "time", "datetime"):
            used.add(module.path.as_posix())
            if module.path.as_posix() not in CLOCK_READERS:
                findings.append(module.at(one.line, "take a relay.clock.Clock, or be listed with a reason"))
    findings += [f"{path}:1: imports no time: take it off the list" for path in CLOCK_READERS.keys() - used]
    assert not findings, report(findings)


def test_imports_inside_functions_carry_a_reason() -> None:
    """An import inside a function says on its line why it is there."""
    findings = [
        module.at(one.line, "import at the top, or say why not: # noqa: PLC0415 - reason")
        for module, one in found()
        if one.inside and "# noqa: PLC0415 - " not in "".join(statement(module, one.line))
    ]
    assert not findings, report(sorted(set(findings)))


def statement(module: Module, line: int) -> list[str]:
    """The line of an import, and those up to its closing parenthesis."""
    lines = module.lines[line - 1 :]
    if "(" not in lines[0] or ")" in lines[0]:
        return lines[:1]
    return lines[: next(index for index, text in enumerate(lines) if ")" in text) + 1]


def test_no_import_runs_in_a_circle() -> None:
    """No module imports, at its top, what imports it."""
    names = {module.name for module in modules("ethogram", "relay", "conformance")}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for module in modules("ethogram", "relay", "conformance"):
        tops = [one for one in imports_of(module) if not one.inside and one.name in names and one.name != module.name]
        for one in tops:
            # `from a import b` imports `a` for the sake of its part `a.b`, where there is one.
            is_for_a_part = any(other.line == one.line and other.name.startswith(f"{one.name}.") for other in tops)
            if not is_for_a_part:
                graph[module.name].add(one.name)
    circle = find_circle(graph)
    assert not circle, f"\n{' -> '.join(circle)}: break this circle"


def find_circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of a graph, empty where there is none."""
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            circle = visit(other, [*trail, name])
            if circle:
                return circle
        done.add(name)
        return []

    for name in sorted(graph):
        circle = visit(name, [])
        if circle:
            return circle
    return []


def test_circles_are_found() -> None:
    """The search finds a circle where there is one."""
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_judging_needs_no_client() -> None:
    """The loop, the check and the command line load without the Kafka client; the kit loads orjson alone."""
    lines = (
        "import sys, relay.loop, relay.check, relay.cli",
        "assert 'confluent_kafka' not in sys.modules, 'the client was loaded'",
    )
    kit = ("import sys, ethogram", "assert not {'relay', 'yaml', 'pydantic'} & set(sys.modules), 'more than the kit'")
    for program in (lines, kit):
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(program)], cwd=Path(ROOT), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
