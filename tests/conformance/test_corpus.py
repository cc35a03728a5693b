"""The captured corpus: whole, as captured, never changed; and its reader, which passes nothing over."""

import hashlib
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases import read_cases
from conformance.corpus import SUMS_NAME
from conformance.json_text import compact, indent, turn_round
from conformance.vectors import VectorFileError
from tests.property.spelling import spell
from tests.property.strategies import json_values

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "conformance" / "v1"


def sums() -> dict[str, str]:
    """The digest of every file of the corpus, as it has landed."""
    lines = (CORPUS / SUMS_NAME).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def test_what_has_landed_is_unchanged() -> None:
    """Every file has the digest that is written down, and every file is written down."""
    files = {path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file()} - {SUMS_NAME}
    landed = sums()
    assert files == landed.keys()
    changed = [
        name for name, digest in landed.items() if hashlib.sha256((CORPUS / name).read_bytes()).hexdigest() != digest
    ]
    assert not changed, f"{', '.join(changed)}: changed since it landed; a fixture never changes, add another"


def test_nothing_that_landed_was_ever_changed() -> None:
    """The history of the tree has added files of the corpus, and changed or removed none."""
    is_shallow = ["git", "rev-parse", "--is-shallow-repository"]
    names = ["git", "log", "--format=", "--name-status", "--no-renames", "--", "conformance/v1"]
    try:
        shallow = subprocess.run(is_shallow, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        history = subprocess.run(names, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no history here: an unpacked archive")
    if shallow == "true":
        pytest.skip("the history here is cut off: a shallow clone")
    changed = [line for line in history if not line.startswith("A\t") and not line.endswith(SUMS_NAME)]
    assert not changed, "\n".join(changed)


def copied(folder: Path) -> Path:
    """A copy of the corpus."""
    return shutil.copytree(CORPUS, folder / "v1")


def fault_of(corpus: Path) -> str:
    """What the reader says of a corpus that is not whole."""
    with pytest.raises(VectorFileError) as caught:
        list(read_cases(corpus))
    return str(caught.value)


def test_a_changed_fixture_is_told_of(tmp_path: Path) -> None:
    """A fixture that is not what was on the wire is an error, though it parses."""
    corpus = copied(tmp_path)
    fixture = corpus / "events/run.finished/completed.json"
    fixture.write_text(fixture.read_text().replace('"completed"', '"failed"'))
    assert fault_of(corpus).endswith("completed.json: expected the bytes that were captured, got others")


def test_provenance_is_asked_for(tmp_path: Path) -> None:
    """A fixture without provenance, a provenance without fixture, and two for one are errors."""
    corpus = copied(tmp_path)
    invented = corpus / "events/run.finished/invented.json"
    invented.write_text("{}")
    assert fault_of(corpus).endswith("invented.json: expected a provenance, got a fixture alone")
    invented.unlink()
    (corpus / "events/run.finished/completed.json").unlink()
    assert fault_of(corpus).endswith("completed.json: expected a fixture, got a provenance alone")
    shutil.copy(corpus / "captures/relay-stopped.json", corpus / "captures/relay-stopped-again.json")
    assert "expected each fixture once, got run.finished/relay-stopped.json again" in fault_of(corpus)
    (corpus / "captures/relay-stopped.json").write_text("[]")
    assert "expected a capture in JSON" in fault_of(corpus)
    shutil.rmtree(corpus / "events")
    (corpus / "events").mkdir()
    shutil.rmtree(corpus / "captures")
    assert "expected fixtures below events, got none" in fault_of(corpus)


def test_each_fixture_makes_four_cases() -> None:
    """The stored text, the compact one and the one turned round all have the wire's bytes; the payload is valid."""
    cases = list(read_cases(CORPUS))
    fixtures = list((CORPUS / "events").rglob("*.json"))
    assert len(cases) == 4 * len(fixtures)
    raws = {case.id: case.input["raw"] for case in cases if case.op == "parse"}
    for fixture in fixtures:
        name = f"v1/{fixture.relative_to(CORPUS / 'events').with_suffix('').as_posix()}"
        texts = [raws[f"{name}/{form}"] for form in ("stored", "compact", "turned-round")]
        assert len(set(texts)) == 3
        assert len({json.dumps(json.loads(text), sort_keys=True) for text in texts}) == 1


@given(json_values, st.randoms(use_true_random=False))
def test_rewriting_keeps_every_token(value: object, order: random.Random) -> None:
    """Indenting and compacting move whitespace alone, and turning round keeps the value, whatever the spelling."""
    text = spell(value, order)
    narrow = compact(text)
    assert compact(indent(narrow)) == narrow
    assert compact(indent(text)) == narrow
    assert _value(turn_round(narrow)) == _value(text)
    assert sorted(turn_round(narrow)) == sorted(narrow)


def _value(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)
