"""The public API is typed as a user writes it, under two type checkers, and does what the types say."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import ethogram
from tests.typing import api, checkers, programs

CHECKERS = {"mypy": checkers.named_by_mypy, "pyright": checkers.named_by_pyright}

Named = Callable[[Path, str], dict[int, str]]

two_checkers = pytest.mark.parametrize("named_by", CHECKERS.values(), ids=CHECKERS.keys())


@two_checkers
def test_a_users_code_is_typed(named_by: Named, tmp_path: Path) -> None:
    """Strict checking infers the documented types, and refuses each line that is wrong on purpose."""
    shutil.copy(Path(api.__file__), tmp_path / "api.py")
    assert named_by(tmp_path, "api.py") == {}


@two_checkers
def test_every_payload_is_typed(named_by: Named, tmp_path: Path) -> None:
    """Every class is built with every field, every attribute has the vocabulary's type, and a match can be complete."""
    (tmp_path / "right.py").write_text(programs.right_program())
    assert named_by(tmp_path, "right.py") == {}


@two_checkers
def test_every_mistake_is_named(named_by: Named, tmp_path: Path) -> None:
    """A misspelt field or member, a missing one, a wrong type, a change, a forgotten case: each is named, no other."""
    program, wrong = programs.wrong_program()
    (tmp_path / "wrong.py").write_text(program)
    named = named_by(tmp_path, "wrong.py")
    lines = program.splitlines()
    passed = [lines[number - 1] for number in sorted(wrong - named.keys())]
    assert not passed, "these mistakes pass:\n" + "\n".join(passed)
    assert not {lines[number - 1]: said for number, said in named.items() if number not in wrong}


def test_every_public_type_is_known(tmp_path: Path) -> None:
    """No public name of the kit leaves a type to be guessed."""
    completeness = checkers.type_completeness("ethogram", Path(ethogram.__file__).parents[1], tmp_path)
    unknown = [one["name"] for one in completeness["symbols"] if one["isExported"] and not one["isTypeKnown"]]
    assert not unknown
    assert completeness["completenessScore"] == 1


def test_a_users_code_runs() -> None:
    """What is type-checked also does what it says."""
    event = api.stamp_a_draft()
    raw = ethogram.serialise_event(event)
    assert api.read_and_write(raw) == raw
    assert api.validate("agent.text", {"text": "x"}) is None
    assert api.validate("agent.text", {"text": "x" * 16_385}) == "OverBound"
    assert api.fold(api.sink_events()) == {"run-1": 2}
    assert api.cut("x" * 4097) == ("x" * 4096, True)
    assert api.tell_errors_apart(b"{}") == "v"
    assert api.tell_errors_apart(raw) == ""
    assert api.build_and_match() == ["said hello", "call of Read", "ended: completed", "other: x.seen"]
