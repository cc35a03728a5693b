"""Kits in other processes: our own agrees, wrong ones fail on what they get wrong, and none can hang the harness."""

import io
import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import foreign
from conformance.adapters import ADAPTERS
from conformance.cases import read_cases
from conformance.foreign import ForeignKit
from conformance.kits import KitFault
from conformance.runner import Options, run
from conformance.vectors import Vector
from tests.conformance.faulty.wrong import WRONG

ROOT = Path(__file__).parents[2]
HERE = ROOT / "conformance"
HANDWRITTEN = HERE / "handwritten"
OWN = f"{sys.executable} -m conformance.sdk"
TIMEOUT_S = 1.0

EXCERPT = Vector("here", "e", "excerpt", {"text": "ab", "max": 1}, {"text": "a", "truncated": True})


def faulty(name: str) -> str:
    """The command of a kit that is wrong on purpose."""
    return f"{sys.executable} -m tests.conformance.faulty {name}"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are found from the top of the tree."""
    monkeypatch.chdir(ROOT)


def report(command: str, *paths: Path, ops: tuple[str, ...] = ()) -> tuple[int, str]:
    """Exit code and report of a run against a command."""
    kit = ForeignKit(command, 10.0)
    out = io.StringIO()
    try:
        return run(paths, out, kit, Options(ops=ops)), out.getvalue()
    finally:
        kit.close()


def test_our_own_kit_is_plugged_in_the_same_way() -> None:
    """Over lines our kit passes all that stands here, as it does in this process."""
    out = io.StringIO()
    assert run([HERE / "v1", HANDWRITTEN], out) == 0, out.getvalue()
    assert report(OWN, HERE / "v1", HANDWRITTEN) == (0, out.getvalue())


def test_lines_carry_every_input_unchanged() -> None:
    """Lone surrogates, floats and long texts reach a kit as they stand in the case, in ASCII alone."""
    kit = ForeignKit(shlex.join([sys.executable, "-c", ECHO]), 10.0)
    odd = {"text": "\ud800 \u2028 \u007f é😀\n", "numbers": [1.0, 1e-7, -0.0, 2**53], "long": "x" * 200_000}
    verdict = kit.judge(Vector("here", "e", "excerpt", odd, {}))
    kit.close()
    assert verdict == {"input": odd, "ascii": True, "floats": [True, True, True, False]}


ECHO = """
import json, sys
for line in sys.stdin.buffer:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = {"protocol": 1, "kit": "echo", "version": "0", "ops": ["excerpt"]}
    else:
        given = request["input"]
        floats = [isinstance(number, float) for number in given["numbers"]]
        answer = {"id": request["id"], "verdict": {"input": given, "ascii": line.isascii(), "floats": floats}}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("name", "failing"),
    [
        ("utf16-excerpt", r"(agreement/)?excerpt/.*"),
        ("utf16-order", r"(agreement/)?parse/.*"),
        ("last-member-wins", r"(agreement/)?parse/.*(dup|repeat|twice).*"),
        ("renumbering-sink", r"(agreement/)?sink/.*"),
        ("leaking-refusal", r"refuse/(over-bound|payload-too-large).*"),
    ],
)
def test_a_wrong_kit_fails_on_what_it_gets_wrong(name: str, failing: str) -> None:
    """Each defect is found, by cases that are about it, and every other case of that kit passes."""
    code, said = report(faulty(name), HANDWRITTEN, ops=(WRONG[name][0],))
    failed = re.findall(r"^FAILED (\S+)", said, re.MULTILINE)
    assert code == 1
    assert failed
    assert [one for one in failed if not re.fullmatch(failing, one)] == []
    passed = int(re.findall(r"^(\d+) passed", said, re.MULTILINE)[0])
    assert passed > 0
    others = tuple(op for op in ADAPTERS if op != WRONG[name][0])
    assert report(faulty(name), HANDWRITTEN, ops=others)[0] == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", r"the command ended before it answered \(exit code 3\)"),
        ("crashes", r"the command ended before it answered \(signal 9\)"),
        ("hangs", r"the command did not answer within 1 s"),
        ("rambles", r"expected one JSON object on a line, got 'thinking about it'"),
        ("wrong-id", r"id: expected the case's own, got 'another'"),
        ("no-verdict", r"verdict: expected an object, got None"),
        ("array", r"expected one JSON object on a line, got \[1\]"),
        ("gives-up", r"the kit says: 'KeyError escaped'"),
    ],
)
def test_a_kit_that_misbehaves_is_told_of(name: str, said: str) -> None:
    """The case fails with a reason, within its time, and the next case finds a kit that was started anew."""
    kit = ForeignKit(faulty(name), TIMEOUT_S)
    began_s = time.monotonic()
    for _ in range(2):
        with pytest.raises(KitFault, match=said):
            kit.judge(EXCERPT)
    kit.close()
    assert time.monotonic() - began_s < 20


def test_one_answer_too_many_is_told_of() -> None:
    """A line that nobody asked for is the next case's failure, whether it comes before that case is sent or after."""
    kit = ForeignKit(faulty("answers-twice"), TIMEOUT_S)
    assert kit.judge(EXCERPT) == EXCERPT.expect
    with pytest.raises(KitFault, match=r"wrote more than one line|id: expected the case's own, got 'e'"):
        kit.judge(replace(EXCERPT, id="f"))
    assert kit.judge(EXCERPT) == EXCERPT.expect
    kit.close()


def test_an_endless_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kit cannot fill the harness's memory."""
    monkeypatch.setattr(foreign, "LINE_BYTES_MAX", 1_000_000)
    kit = ForeignKit(faulty("endless-line"), 30.0)
    with pytest.raises(KitFault, match="wrote a line of more than 1000000 bytes"):
        kit.judge(EXCERPT)
    kit.close()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "expected a command line, got an empty one"),
        ("'", "cannot be split"),
        ("no-such-command-here", "the command cannot be started: No such file or directory"),
        (faulty("ends-at-once"), r"the command ended before it answered \(exit code 7\)"),
        (faulty("of-the-future"), "hello: expected protocol 1, got 2"),
        (faulty("nameless"), "hello: expected the texts kit and version, got none"),
    ],
)
def test_a_kit_that_does_not_start_is_told_of(command: str, said: str) -> None:
    """Without an introduction there is no run."""
    with pytest.raises(KitFault, match=said):
        ForeignKit(command, 10.0)


def test_what_a_kit_does_not_list_fails() -> None:
    """An operation that is not implemented fails its cases, unless the run is narrowed, which the report says."""
    code, said = report(faulty("half"), HANDWRITTEN)
    assert code == 1
    assert "not implemented: the kit does not list the operation 'parse'" in said
    code, said = report(faulty("half"), HANDWRITTEN, ops=("excerpt",))
    count = len([vector for vector in read_cases(HANDWRITTEN) if vector.op != "excerpt"])
    assert code == 0
    assert f"only excerpt: {count} cases of other operations were left out\n" in said


def test_restarts_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kit that crashes for ever is given up."""
    monkeypatch.setattr(foreign, "RESTARTS_MAX", 1)
    kit = ForeignKit(faulty("exits"), TIMEOUT_S)
    for _ in range(2):
        with pytest.raises(KitFault, match="exit code 3"):
            kit.judge(EXCERPT)
    with pytest.raises(KitFault, match="was started anew 1 times, and is not again"):
        kit.judge(EXCERPT)
    kit.close()


def test_nothing_of_a_kit_stays_behind(tmp_path: Path) -> None:
    """Closing ends the command and what it has started."""
    mark = tmp_path / "pid"
    program = (
        f"import subprocess, sys; p = subprocess.Popen(['sleep', '60']); open({str(mark)!r}, 'w').write(str(p.pid))"
    )
    kit = ForeignKit(shlex.join([sys.executable, "-c", program + ECHO]), 10.0)
    kit.close()
    stat = Path(f"/proc/{mark.read_text()}/stat")
    deadline_s = time.monotonic() + 10
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z" and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_command_line(tmp_path: Path) -> None:
    """The options reach the run: a kit, its time, operations, the first failure, and a report for machines."""
    command = [
        sys.executable,
        "-m",
        "conformance",
        str(HANDWRITTEN),
        "--sdk",
        faulty("utf16-excerpt"),
        "--ops",
        "excerpt",
    ]
    done = subprocess.run([*command, "--fail-fast", "--json"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert len(lines) == 2
    assert '"failed": 1' in lines[1]
    command = [sys.executable, "-m", "conformance", str(tmp_path), "--sdk", faulty("ends-at-once")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "0 passed, 1 failed")
    for wrong in (["--timeout", "0"], ["--timeout", "x"], ["--ops", ","]):
        done = subprocess.run(
            [sys.executable, "-m", "conformance", *wrong], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
