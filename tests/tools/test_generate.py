"""What comes from the vocabulary is as the vocabulary says."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ethogram import vocabulary
from ethogram.vocabulary.shape import text
from tools.generate import __main__ as command
from tools.generate import payloads, reference
from tools.generate.files import generated_files

ROOT = Path(__file__).parents[2]


def test_generated_files_are_fresh() -> None:
    """The payload classes and the reference page in the tree are those of this vocabulary."""
    stale = [path for path, text in generated_files().items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert not stale, f"{', '.join(stale)}: stale, call `make generate`"


def test_a_new_field_is_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field added to the vocabulary appears in the class and on the page, and nothing else needs to be told."""
    (family,) = [family for family in vocabulary.FAMILIES if family.name == "control"]
    requested, applied = family.types
    grown = replace(applied, fields=(*applied.fields, text("appliedBy", "the runtime that honoured it")))
    module = payloads.family_module(replace(family, types=(requested, grown)))
    assert "    applied_by: str | None = None\n" in module
    monkeypatch.setattr(reference, "FAMILIES", (replace(family, types=(requested, grown)),))
    assert "| `appliedBy` |  | a string |  | the runtime that honoured it |" in reference.reference_page()


def test_stale_files_are_named_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--check` names what is stale, writes nothing and fails; without it the file is written once."""
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "generated_files", lambda: {"page.md": "new\n"})
    monkeypatch.setattr(sys, "argv", ["generate", "--check"])
    assert command.main() == 1
    assert capsys.readouterr().out == "page.md: stale\n"
    assert not (tmp_path / "page.md").exists()
    monkeypatch.setattr(sys, "argv", ["generate"])
    assert [command.main(), command.main()] == [0, 0]
    assert capsys.readouterr().out == "page.md: written\n"
    assert (tmp_path / "page.md").read_text() == "new\n"


GROWN = """
import pathlib
import ethogram
from tests.property.strategies import objects_of

assert ethogram.__file__ == str(pathlib.Path("ethogram/__init__.py").resolve())
payload = {"controlId": "c", "kind": "resume", "by": "me", "urgency": 3}
ethogram.validate("control.requested", payload)
made = ethogram.ControlRequested(control_id="c", kind="resume", by="me", urgency=3)
assert made.to_json() == payload
read = ethogram.read_payload(made.draft())
assert read == made and not isinstance(read.kind, ethogram.UnknownMember) and not read.extra
for wrong in (None, "3", -1):
    try:
        ethogram.parse_draft({"type": "control.requested", "payload": payload | {"urgency": wrong}})
    except ethogram.ParseError as error:
        assert error.path == "payload.urgency", error
    else:
        raise SystemExit(f"urgency {wrong!r} parses")
page = pathlib.Path("docs/vocabulary.md").read_text()
assert "| `resume` | go on |" in page and "| `urgency` |  | an integer" in page
cases = pathlib.Path("conformance/handwritten/vocabulary.jsonl").read_text()
assert "payload.urgency-of-another-kind" in cases and "payload.kind-resume" in cases
assert "urgency" in repr(objects_of(ethogram.VOCABULARY["control.requested"].fields))
"""


def test_one_change_reaches_everything(tmp_path: Path) -> None:
    """A field and a member written into the vocabulary, and nothing else: it reaches parsing, classes, page and cases.

    It happens in a copy of the tree, in a process of its own.
    """
    for part in ("ethogram", "tools", "tests", "docs", "conformance", "pyproject.toml"):
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / part)
    place = tmp_path / "ethogram/vocabulary/control.py"
    text = place.read_text(encoding="utf-8")
    member, field = 'Member("interrupt",', 'excerpted("text", "what to steer by"),'
    assert text.count(member) == text.count(field) == 1
    text = text.replace(member, f'Member("resume", "go on"),\n        {member}')
    text = text.replace(field, f'{field}\n        count("urgency", "how pressing it is"),')
    place.write_text(text.replace("import (\n    ClosedSet", "import (\n    count,\n    ClosedSet"), encoding="utf-8")
    for arguments in (["-m", "tools.generate"], ["-c", GROWN]):
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
