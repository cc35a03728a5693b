"""What comes from the vocabulary is as the vocabulary says."""

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
