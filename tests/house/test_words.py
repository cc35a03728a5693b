"""Words: names that say nothing, paths of a machine, hosts of registries, and what the README must name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT, Module, modules, report, tracked

BANNED = {
    "manager": "say what it does",
    "helper": "say what it does",
    "helpers": "say what it does",
    "util": "say what it does",
    "utils": "say what it does",
    "message": "Kafka's word is record",
    "messages": "Kafka's word is record",
}
"""Words of names, and what to do instead."""

ALLOWED = {
    ("relay/telemetry/http.py", "log_message"): "http.server calls it so",
    ("ethogram/bounds.py", "MAX_MESSAGE_PATH_SCALARS"): "the text of an error, not a record",
    ("ethogram/validate.py", "_with_message"): "the wire's own field",
    ("ethogram/payloads/agent.py", "message"): "the wire's own field",
}
"""Names that hold a banned word, and why they may."""

CLIENTS_OWN = ("relay/kafka/", "relay/record/kafka.py", "relay/demo/")
"""Where the client's class is called Message, and a variable that holds one may be, too."""

HOME_PATH = re.compile(r"(?<![A-Za-z0-9_.])/(?:home|Users|root|work)/[A-Za-z0-9_.]")
REGISTRY_HOST = re.compile(r"https?://|--(?:extra-)?index-url|--find-links|\s@\s", re.IGNORECASE)


def names_of(module: Module) -> Iterator[tuple[int, str]]:
    """Line and name of all that a module defines: itself, classes, functions, arguments, variables."""
    yield 1, module.path.stem
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def words_of(name: str) -> set[str]:
    """The words of a name in snake case or camel case."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def test_names_say_something() -> None:
    """No name holds a word that stands for having found none, or another word for a record than Kafka's."""
    findings = [
        module.at(line, f"{name}: {BANNED[word]}")
        for module in modules("ethogram", "relay", "conformance")
        for line, name in names_of(module)
        for word in sorted(words_of(name) & BANNED.keys())
        if not may_hold(module.path.as_posix(), name, word)
    ]
    assert not findings, report(findings)


def may_hold(path: str, name: str, word: str) -> bool:
    """Whether a name may hold a banned word all the same."""
    is_clients_own = word.startswith("message") and path.startswith(CLIENTS_OWN)
    return is_clients_own or (path, name) in ALLOWED


def test_exceptions_of_names_are_in_use() -> None:
    """Each name that is let pass is there."""
    there = {(module.path.as_posix(), name) for module in modules() for _line, name in names_of(module)}
    assert not ALLOWED.keys() - there


def text_files() -> Iterator[tuple[Path, list[str]]]:
    """Every tracked text file and its lines."""
    for path in tracked():
        try:
            yield path, (ROOT / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue


def test_the_tree_speaks_of_itself_alone() -> None:
    """No file names a home folder or a workplace: it is of use on any machine."""
    findings = [
        f"{path}:{number}: name no folder of a machine"
        for path, lines in text_files()
        for number, line in enumerate(lines, start=1)
        if HOME_PATH.search(line)
    ]
    assert not findings, report(findings)


def test_home_paths_are_recognised() -> None:
    """The search finds a home folder, and takes no part of a longer path for one."""
    home = "/ho" + "me/someone"  # Not in one piece: this file is searched, too.
    assert HOME_PATH.search(f'open("{home}")')
    assert not HOME_PATH.search(f"a{home}")
    assert not HOME_PATH.search("the /home page")


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_requirements_are_pinned_by_hash(path: Path) -> None:
    """Every requirement is one version with its hashes, and no line names where to fetch it from."""
    text = path.read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text.replace("\\\n", "").strip()) if not entry.startswith("#")]
    assert entries
    findings = [
        f"requirements/{path.name}:{number}: name no host or index"
        for number, line in enumerate(text.splitlines(), start=1)
        if REGISTRY_HOST.search(line)
    ]
    findings += [
        f"requirements/{path.name}: {entry.split()[0]}: one version, ==, with --hash=sha256:"
        for entry in entries
        if not re.match(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[^\s;]+", entry) or "--hash=sha256:" not in entry
    ]
    assert not findings, report(findings)


def test_the_readme_begins_with_what_to_type() -> None:
    """The README names `make demo` and `make test`, which the Makefile has."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme, f"README.md:1: name `make {target}`"
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"Makefile:1: have the target {target}"


def test_the_readme_lists_the_exit_codes() -> None:
    """Each exit code has its row in the README, for scripts rely on it."""
    from relay.exit_codes import ExitCode  # noqa: PLC0415 - the other rules here load nothing of the relay

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [int(code) for code in re.findall(r"^\| ([0-9]+) \|", readme, re.MULTILINE)]
    assert rows == [code.value for code in ExitCode], "README.md:1: a row for each exit code, in order"
