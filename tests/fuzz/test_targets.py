"""The fuzzer's parts, without the fuzzer: targets over seeds and random changes of them, and proof that they can find.

Where atheris is installed the command itself is run for a few seconds, too.
"""

import importlib.util
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.choices import Choices
from tests.fuzz.plants import PLANTS, Plant
from tests.fuzz.seeds import ROOT, read_seeds, read_words, write_corpus, write_dictionary
from tests.fuzz.targets import TARGETS

SEED = 20_260_101
CHANGES_COUNT = 300

needs_atheris = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris is installed for `make fuzz` alone"
)


def inputs_of(target: str) -> Iterator[bytes]:
    """A target's seeds, then random changes of them: a word or bytes put in, taken out, or changed."""
    order = random.Random(SEED)
    seeds, words = read_seeds(target), read_words()
    yield from seeds
    for _ in range(CHANGES_COUNT):
        changed = bytearray(order.choice(seeds))
        for _ in range(order.randint(1, 4)):
            at = order.randint(0, len(changed))
            taken = order.choice([0, 0, 1, 8])
            changed[at : at + taken] = order.choice(
                [b"", order.choice(words), order.randbytes(order.choice([1, 4, 40]))]
            )
        yield bytes(changed)


def run_all(target: str) -> int:
    """Run a target on its inputs; gives their count, and notes the input beside what it finds."""
    count = 0
    for data in inputs_of(target):
        count += 1
        try:
            TARGETS[target](data)
        except Exception as error:
            error.add_note(f"{target} on {data!r}")
            raise
    return count


@pytest.mark.parametrize("target", TARGETS)
def test_targets_find_nothing(target: str) -> None:
    """Over the seeds and some hundreds of changes of them the kit keeps every promise."""
    assert run_all(target) > CHANGES_COUNT


def test_a_text_repeated_less_than_never_is_an_object_like_others() -> None:
    """The form that stands for a long text is taken for one only with a count that makes sense; a run found it."""
    TARGETS["validate"](b'agent.started\n{"k": [{"$repeat": ["a", -19600719925474092982]}, {"$repeat": ["a", 1e9]}]}')


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_planted_bugs_are_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same inputs find each deliberate bug, so that nothing found says something."""
    monkeypatch.setattr(plant.owner, plant.attribute, plant.bug)
    with pytest.raises(AssertionError):
        run_all(plant.target)


def test_every_target_has_its_bug() -> None:
    """No target is left without a bug that it is known to find."""
    assert {plant.target for plant in PLANTS.values()} == TARGETS.keys()


def test_seeds_are_many_and_each_of_a_file(tmp_path: Path) -> None:
    """Vectors become seeds, and a corpus holds each seed once, outside of the tree."""
    for target in TARGETS:
        count = write_corpus(target, tmp_path / target)
        held = {path.read_bytes() for path in (tmp_path / target).iterdir()}
        assert count == len(held) == len(read_seeds(target)) > 5


def test_the_dictionary_is_as_libfuzzer_reads_it(tmp_path: Path) -> None:
    """A line is a quoted entry of letters, digits and hex escapes, and the vocabulary's words are among them."""
    write_dictionary(tmp_path / "words")
    lines = (tmp_path / "words").read_text(encoding="ascii").splitlines()
    assert all(re.fullmatch(r'"(?:[A-Za-z0-9]|\\x[0-9a-f]{2})+"', line) for line in lines)
    assert r'"\x22agent\x2etool\x5fuse\x22"' in lines


def test_choices_end_with_their_bytes() -> None:
    """Every choice past the end is the first, so that any input builds something small."""
    empty = Choices(b"")
    assert (empty.below(9), empty.wide(), empty.chance(2), empty.pick("ab"), empty.text()) == (0, 0, False, "a", "")
    assert Choices(b"").value() == ""
    assert Choices(b"\x05\x00").value() == {}


def test_an_input_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replaying says that nothing was found, and exits 0."""
    path = tmp_path / "input"
    path.write_bytes(b"{}")
    assert main(["--target", "parse", "--replay", str(path)]) == 0
    assert capsys.readouterr().out == "parse: this input finds nothing\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--replay", "x"], "--replay: expected exactly one --target"),
        (["--minutes", "0"], "--minutes: expected more than 0"),
        (["--target", "nothing"], "invalid choice"),
    ],
)
def test_wrong_usage_is_said(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage exits 2 and says what was expected."""
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, what it leaves for people to look at in a folder of the test."""
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "1", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"TMPDIR": str(folder)},
    )


@needs_atheris
def test_the_fuzzer_runs_and_counts(tmp_path: Path) -> None:
    """A short run prints executions and coverage, and exits 0 where nothing is found."""
    done = run(tmp_path, "--minutes", "0.03", "--target", "excerpt")
    assert done.returncode == 0, done.stdout + done.stderr
    match = re.search(r"^excerpt: executions (\d+), coverage (\d+), .*seed 1, exit 0$", done.stdout, re.MULTILINE)
    assert match is not None, done.stdout
    assert int(match[1]) > 100
    assert done.stdout.endswith("found nothing\n")
    assert not list(tmp_path.iterdir())


@needs_atheris
def test_the_fuzzer_reports_a_finding_and_replays_it(tmp_path: Path) -> None:
    """A planted bug ends the run with exit code 1 and a line that replays it: with the bug it fails, without it not."""
    done = run(tmp_path, "--minutes", "0.5", "--target", "canonical", "--plant", "utf16-keys")
    assert done.returncode == 1, done.stdout + done.stderr
    match = re.search(
        r"^  finding: python -m tests\.fuzz (--target canonical --replay (\S+))$", done.stdout, re.MULTILINE
    )
    assert match is not None, done.stdout
    again = run(tmp_path, *match[1].split(), "--plant", "utf16-keys")
    assert again.returncode == 1
    assert "FindingError" in again.stdout
    assert run(tmp_path, *match[1].split()).returncode == 0
