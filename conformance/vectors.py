"""Reads vector files: one JSON object a line, long texts spelled by generator forms.

It must never judge a verdict, and never pass a line over in silence.

Spec: The founding decision: two implementations, one corpus
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class VectorFileError(Exception):
    """A vector file, or a line of one, cannot be read; the text begins with `file:line`."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One case.

    Attributes:
        place: `file:line`, for reports.
        id: the case's name.
        op: which operation it exercises.
        input: what the operation takes, generator forms expanded.
        expect: the verdict wanted, generator forms expanded.
    """

    place: str
    id: str
    op: str
    input: dict[str, Any]
    expect: dict[str, Any]


def expand(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Expand the generator forms in a value, wherever a string may stand.

    Args:
        value: a JSON value with `{"$repeat": [text, count]}` and `{"$concat": [part, …]}` in it; not changed.

    Returns:
        The value with every form replaced by its text.

    Raises:
        ValueError: a form is not of its shape.

    Spec: The founding decision: two implementations, one corpus
    """
    if isinstance(value, list):
        return [expand(element) for element in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": [repeated, int() as count]} if len(value) == 1:
            return _text(expand(repeated)) * count
        case {"$concat": list() as parts} if len(value) == 1:
            return "".join(_text(expand(part)) for part in parts)
        case {"$repeat": _} | {"$concat": _} if len(value) == 1:
            raise ValueError("expected a generator form of its shape, got another")
    return {key: expand(member) for key, member in value.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected text in a generator form, got another value")  # noqa: TRY004 - a fault of the file
    return value


def find_files(path: Path) -> list[Path]:
    """Name the vector files under a path, sorted.

    Args:
        path: a file, or a folder whose `*.jsonl` at any depth are meant.

    Raises:
        VectorFileError: the path is neither, or the folder has none.

    Spec: The founding decision: two implementations, one corpus
    """
    if path.is_file():
        return [path]
    files = sorted(path.rglob("*.jsonl"))
    if not files:
        raise VectorFileError(f"{path}: expected a vector file or a folder of them, got neither")
    return files


def read_vectors(path: Path) -> Iterator[Vector]:
    """Read the cases of one file, in order; empty lines are none.

    Raises:
        VectorFileError: a line is no vector; it names file and line.

    Spec: The founding decision: two implementations, one corpus
    """
    # Lines end at LF alone: the texts hold other characters that some readers take for line ends.
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            yield _read_vector(f"{path}:{number}", line)


def _read_vector(place: str, line: bytes) -> Vector:
    try:
        members = json.loads(line.decode())
        if not isinstance(members, dict):
            raise VectorFileError(f"{place}: expected an object, got another value")
        return Vector(
            place,
            _member(place, members, "id", str),
            _member(place, members, "op", str),
            expand(_member(place, members, "input", dict)),
            expand(_member(place, members, "expect", dict)),
        )
    except (ValueError, RecursionError) as error:
        raise VectorFileError(f"{place}: expected one vector in JSON, got a fault: {error}") from None


def _member(place: str, members: dict[str, Any], name: str, kind: type) -> Any:  # noqa: ANN401 - of the kind asked for
    if not isinstance(members.get(name), kind):
        raise VectorFileError(f"{place}: expected a member {name} of type {kind.__name__}, got none")
    return members[name]
