"""Run ids as names of directories."""

import hashlib

import pytest

from ethogram import ParseError
from ethogram.files import name_of_run, run_id_of
from ethogram.files.naming import NAME_BYTES_MAX, is_run_name

NAMES = {
    "0a1b2c3d-0000-4000-8000-00000000000f": "0a1b2c3d-0000-4000-8000-00000000000f",
    "run_1.2": "run_1.2",
    "": "%",
    "%": "%25",
    ".": "%2e",
    "..": "%2e%2e",
    ".hidden": "%2ehidden",
    "dot.": "dot%2e",
    "-rf": "%2drf",
    "a/b\\c": "a%2fb%5cc",
    "a\0\n": "a%00%0a",
    "Ab": "%41b",
    "é": "%c3%a9",
    "e\u0301": "e%cc%81",
    "con": "%63on",
    "nul.txt": "%6eul.txt",
    "com1.\n": "%63om1.%0a",
    "console": "console",
    "%41b": "%2541b",
    "a b~": "a%20b%7e",
}


@pytest.mark.parametrize(("run_id", "name"), NAMES.items())
def test_names_are_as_stated(run_id: str, name: str) -> None:
    """What is safe stays as it is, the rest is escaped, and the name gives the run id back."""
    assert name_of_run(run_id) == name
    assert run_id_of(name) == run_id
    assert is_run_name(name)


@pytest.mark.parametrize("run_id", ["x" * 129, "X" * 43, "é" * 22, "a" * 91 + "/" * 20, "a" * 93 + "é" * 20, "/" * 500])
def test_long_names_are_shortened(run_id: str) -> None:
    """A name beyond its bound is cut before an escape and told apart by a digest; it cannot be read back."""
    name = name_of_run(run_id)
    assert len(name) <= NAME_BYTES_MAX
    prefix, _, digest = name.partition("%~")
    assert digest == hashlib.sha256(run_id.encode()).hexdigest()[:32]
    assert run_id.startswith(run_id_of_prefix(prefix))
    assert run_id_of(name) is None
    assert is_run_name(name)


def run_id_of_prefix(prefix: str) -> str:
    """What the beginning of a shortened name stands for; a character may be cut."""
    return bytes.fromhex("".join(f"{ord(c):02x}" for c in prefix) if "%" not in prefix else unescape(prefix)).decode(
        errors="ignore"
    )


def unescape(prefix: str) -> str:
    """The bytes of a name as hexadecimal digits."""
    parts = prefix.split("%")
    return parts[0].encode().hex() + "".join(part[:2] + part[2:].encode().hex() for part in parts[1:])


def test_the_bound_is_not_shortened() -> None:
    """A name of exactly the bound is whole."""
    assert name_of_run("x" * NAME_BYTES_MAX) == "x" * NAME_BYTES_MAX


@pytest.mark.parametrize(
    "name", ["A", "%4", "%4G", "%C3%A9", "%61", ".git", "lost found", "%ff", "a.", "", "con", "%~00"]
)
def test_other_names_are_no_runs(name: str) -> None:
    """What the encoding never gives is not read as if it had."""
    assert run_id_of(name) is None
    assert not is_run_name(name)


def test_what_no_event_can_carry_has_no_name() -> None:
    """A lone surrogate is refused as in an event."""
    with pytest.raises(ParseError) as caught:
        name_of_run("a\ud800")
    assert (caught.value.path, caught.value.stage) == ("runId", "envelope")
