"""The vocabulary as data."""

import os
import re
from pathlib import Path

import pytest

from ethogram.vocabulary import FAMILIES, VOCABULARY, Field, FieldKind
from tests.unit.ethogram.samples import MINIMAL


def test_vocabulary_has_the_types_of_version_one() -> None:
    """The thirteen types of the spec's tables are there, and no other."""
    assert VOCABULARY.keys() == MINIMAL.keys()


def test_required_fields_are_those_of_the_tables() -> None:
    """The smallest valid payload has exactly the required fields."""
    for name, payload in MINIMAL.items():
        assert {field.name for field in VOCABULARY[name].fields if field.required} == payload.keys()


def test_required_fields_come_first() -> None:
    """Faults are reported in the table's order, required fields before optional ones."""
    for event_type in VOCABULARY.values():
        flags = [field.required for field in event_type.fields]
        assert flags == sorted(flags, reverse=True)


def test_closed_sets_are_required_strings() -> None:
    """The one pass over closed sets relies on their fields being present at the top of a payload."""
    closed = {
        (name, field.name): field.members
        for name, event_type in VOCABULARY.items()
        for field in event_type.fields
        if field.members
    }
    assert closed.keys() == {
        ("run.started", "kind"),
        ("run.finished", "outcome"),
        ("control.requested", "kind"),
        ("capture.refused", "cause"),
        ("decision.requested", "kind"),
    }
    fields = [next(f for f in VOCABULARY[name].fields if f.name == field) for name, field in closed]
    assert all(field.required and field.kind is FieldKind.TEXT for field in fields)
    assert closed["control.requested", "kind"] == ("interrupt", "steer")


def test_excerpt_bounds_are_where_the_spec_has_them() -> None:
    """Exactly the narrated fields have a bound of their own."""

    def bounded(fields: tuple[Field, ...], path: str) -> set[str]:
        found = {f"{path}.{field.name}" for field in fields if field.scalars_max is not None}
        return found.union(*(bounded(field.fields, f"{path}.{field.name}") for field in fields))

    assert set().union(*(bounded(event_type.fields, name) for name, event_type in VOCABULARY.items())) == {
        "agent.text.text",
        "agent.tool_use.inputExcerpt",
        "agent.tool_result.resultExcerpt",
        "agent.warning.message",
        "run.finished.reason",
        "control.requested.text",
        "control.applied.reason",
        "capture.refused.detail",
        "decision.requested.dossier.question",
        "decision.requested.dossier.optionsRuledOut",
        "decision.requested.dossier.recommendedAction",
        "decision.requested.dossier.blastRadius",
        "decision.requested.options.label",
    }


@pytest.mark.skipif("ETHOGRAM_TEST_DATA" not in os.environ, reason="the specification is not here")
def test_the_tables_of_the_specification_are_the_vocabulary() -> None:
    """Types, required and optional fields are those of the specification's own tables, in their order."""
    text = (Path(os.environ["ETHOGRAM_TEST_DATA"]) / "spec" / "ethogram.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^([a-z]+\.[a-z_]+)\t([^\t]*)\t([^\t]*)\t", text, re.MULTILINE)
    told = {name: [_names(required), _names(optional)] for name, required, optional in rows}
    assert list(told) == [event_type.name for family in FAMILIES for event_type in family.types]
    for name, event_type in VOCABULARY.items():
        fields = [[field.name for field in event_type.fields if field.required is needed] for needed in (True, False)]
        assert fields == told[name], name


@pytest.mark.skipif("ETHOGRAM_TEST_DATA" not in os.environ, reason="the specification is not here")
def test_the_closed_sets_of_the_specification_are_the_vocabulary() -> None:
    """Each closed set stands in the specification as one list, "kind is one of a, b, or c", in the same order."""
    text = (Path(os.environ["ETHOGRAM_TEST_DATA"]) / "spec" / "ethogram.txt").read_text(encoding="utf-8")
    for event_type in VOCABULARY.values():
        for field in event_type.fields:
            *first, last = field.members or ("",)
            comma = "," if len(first) > 1 else ""
            listed = f"{field.name} is one of {', '.join(first)}{comma} or {last}"
            assert not field.members or re.search(rf"\b{listed}[,;.]", text), listed


def test_everything_says_what_it_means() -> None:
    """Every family, type, field and member has a meaning, for the page and the classes are written from it."""

    def silent(fields: tuple[Field, ...]) -> list[str]:
        found = [field.name for field in fields if not field.meaning]
        members = [member for field in fields if field.closed_set for member in field.closed_set.members]
        found += [member.name for member in members if not member.meaning]
        return found + [name for field in fields for name in silent(field.fields)]

    assert all(family.meaning and family.section for family in FAMILIES)
    assert not [event_type.name for event_type in VOCABULARY.values() if not event_type.meaning]
    assert not [name for event_type in VOCABULARY.values() for name in silent(event_type.fields)]


def _names(cell: str) -> list[str]:
    return [] if cell == "—" else cell.split(", ")
