"""Deliberate bugs, to show that each target can find one: a fuzzer that finds nothing proves nothing by itself."""

import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import orjson

import ethogram
from ethogram import Excerpt, canonical, gate, parse
from ethogram.canonical import format_number
from ethogram.envelope import JsonValue


@dataclass(frozen=True, slots=True)
class Plant:
    """A bug, and where to put it.

    Attributes:
        target: the target that is to find it.
        owner: the module or class whose attribute is replaced.
        attribute: the attribute's name.
        bug: what to put there.
    """

    target: str
    owner: Any
    attribute: str
    bug: Any


def _sort_by_utf16(value: dict[str, JsonValue]) -> list[JsonValue]:
    """What `canonical` opens an object with, were keys sorted as JavaScript sorts them."""
    tokens: list[JsonValue] = [canonical._Token(b"}")]  # noqa: SLF001 - the bug stands in for that module's own code
    for key in sorted(value, key=lambda key: key.encode("utf-16-be"), reverse=True):
        opening = canonical._Token(orjson.dumps(key) + b":")  # noqa: SLF001 - as above
        tokens += (value[key], opening, canonical._Token(b","))  # noqa: SLF001 - as above
    return [*(tokens[:-1] if value else tokens), canonical._Token(b"{")]  # noqa: SLF001 - as above


def _lay_out_as_python(value: float) -> bytes:
    """Numbers with Python's exponents, `1e-07`."""
    number = format_number(value)
    return repr(float(value)).encode() if b"e" in number else number


def _cut_utf16_units(text: str, max_scalars: int) -> Excerpt:
    """An excerpt that counts as JavaScript does, and so may cut a scalar in half."""
    units = text.encode("utf-16-le", "surrogatepass")
    kept = units[: 2 * max_scalars].decode("utf-16-le", "replace")
    return Excerpt(kept, len(units) > 2 * max_scalars)


def _ignore_repeats(_raw: bytes, _distinct_count: int) -> tuple[str, ...]:
    return ()


def _pass(*_arguments: object) -> None:
    return None


# The package's function of the same name hides the module.
_VALIDATE: Final = sys.modules["ethogram.validate"]

PLANTS: Final = MappingProxyType(
    {
        "repeated-member": Plant("parse", parse, "find_repeated_members", _ignore_repeats),
        "unsafe-number": Plant("structured", parse, "find_payload_fault", _pass),
        "skipped-bounds": Plant("validate", _VALIDATE, "_check_bounds", _pass),
        "utf16-keys": Plant("canonical", canonical, "_open_object", _sort_by_utf16),
        "python-numbers": Plant("canonical", canonical, "format_number", _lay_out_as_python),
        "utf16-excerpt": Plant("excerpt", ethogram, "excerpt", _cut_utf16_units),
        "late-closure": Plant("sink", gate.Gate, "check", _pass),
    }
)
"""Every deliberate bug by its name."""
