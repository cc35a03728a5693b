"""The vocabulary as data."""

from ethogram.vocabulary import VOCABULARY, Field, FieldKind
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
