"""The handwritten inputs leave nothing of the vocabulary out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.cases import read_cases
from ethogram.vocabulary import VOCABULARY, Field

HANDWRITTEN = Path(__file__).parents[2] / "conformance" / "handwritten"
ERRORS = {"OverBound", "PayloadTooLarge", "UnknownMember", "MissingField", "Policy", "Malformed"}


def validated() -> list[tuple[str, Any, dict[str, Any]]]:
    """Type, payload and verdict of every case of `validate`."""
    told = []
    for case in read_cases(HANDWRITTEN):
        if case.op == "validate":
            given = case.input
            payload = json.loads(given["payloadJson"]) if "payloadJson" in given else given["payload"]
            told.append((given["type"], payload, case.expect))
    return told


VALIDATED = validated()


def values_at(payload: Any, fields: tuple[Field, ...], path: str = "payload") -> Iterator[tuple[str, Field, Any]]:  # noqa: ANN401 - any JSON
    """Each known field of a payload that is there: its path without indexes, itself, its value."""
    if not isinstance(payload, dict):
        return
    for field in fields:
        if field.name in payload:
            value = payload[field.name]
            yield f"{path}.{field.name}", field, value
            for entry in value if isinstance(value, list) else [value]:
                yield from values_at(entry, field.fields, f"{path}.{field.name}")


def paths_of(fields: tuple[Field, ...], path: str = "payload") -> Iterator[tuple[str, Field]]:
    """The path of each field, those inside objects included."""
    for field in fields:
        yield f"{path}.{field.name}", field
        yield from paths_of(field.fields, f"{path}.{field.name}")


def without_indexes(path: str) -> str:
    """A path as `paths_of` gives it."""
    return "".join(part.partition("]")[2] if index else part for index, part in enumerate(path.split("[")))


def refused(kind: str) -> set[tuple[str, str]]:
    """Type and path of every case that is refused with an error of this kind."""
    return {
        (event_type, without_indexes(verdict["error"]["path"]))
        for event_type, _payload, verdict in VALIDATED
        if not verdict["ok"] and verdict["error"]["kind"] == kind
    }


def test_every_field_is_there_in_a_valid_case() -> None:
    """Each field of each type stands in a payload that is valid."""
    seen = {
        (event_type, path)
        for event_type, payload, verdict in VALIDATED
        if verdict["ok"] and event_type in VOCABULARY
        for path, _field, _value in values_at(payload, VOCABULARY[event_type].fields)
    }
    assert {(name, path) for name, one in VOCABULARY.items() for path, _ in paths_of(one.fields)} <= seen


def test_every_member_is_there_in_a_valid_case() -> None:
    """Each member of each closed set is taken somewhere, and each set has a case with a stranger."""
    seen = {
        (event_type, path, value)
        for event_type, payload, verdict in VALIDATED
        if verdict["ok"] and event_type in VOCABULARY
        for path, field, value in values_at(payload, VOCABULARY[event_type].fields)
        if field.members
    }
    closed = [(name, path, field) for name, one in VOCABULARY.items() for path, field in paths_of(one.fields)]
    assert {(name, path, member) for name, path, field in closed for member in field.members} <= seen
    assert {(name, path) for name, path, field in closed if field.members} <= refused("UnknownMember")


def test_every_bound_is_met_and_exceeded() -> None:
    """Each bounded text has a valid case of exactly its bound, and one of a scalar more that is refused."""
    met = {
        (event_type, path)
        for event_type, payload, verdict in VALIDATED
        if verdict["ok"] and event_type in VOCABULARY
        for path, field, value in values_at(payload, VOCABULARY[event_type].fields)
        if field.scalars_max
        in {len(text) for text in (value if isinstance(value, list) else [value]) if text == str(text)}
    }
    bounded = {
        (name, path)
        for name, one in VOCABULARY.items()
        for path, field in paths_of(one.fields)
        if field.scalars_max is not None
    }
    assert bounded <= met
    assert bounded <= refused("OverBound")


def test_every_required_field_is_missing_somewhere() -> None:
    """Each required field of each type, and of the objects inside, is left out by a case that is refused for it."""
    needed = {
        (name, path) for name, one in VOCABULARY.items() for path, field in paths_of(one.fields) if field.required
    }
    assert needed <= refused("MissingField")


def test_every_field_is_of_another_kind_somewhere() -> None:
    """Each field of each type is given a value of another kind by a case that is refused for it."""
    fields = {(name, path) for name, one in VOCABULARY.items() for path, _field in paths_of(one.fields)}
    assert fields <= refused("Malformed")


def test_every_kind_of_error_and_rule_is_there() -> None:
    """Each kind of validation error comes from some case, and each type with a rule has a case that breaks it."""
    assert {verdict["error"]["kind"] for _type, _payload, verdict in VALIDATED if not verdict["ok"]} == ERRORS
    broken = {event_type for event_type, _path in refused("Policy")}
    assert {name for name, one in VOCABULARY.items() if one.rules} <= broken
