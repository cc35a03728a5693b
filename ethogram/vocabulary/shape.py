"""The shape in which the vocabulary is written down: fields and event types, as plain frozen data.

It must never hold a rule: `parse` and `validate` are driven from this data.

Spec: Run lifecycle
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ethogram.bounds import MAX_EXCERPT_SCALARS


class FieldKind(Enum):
    """What a field's value may be; the value of each member is how an error's text names it."""

    TEXT = "a string"
    FLAG = "true or false"
    COUNT = "an integer from 0 to 9007199254740991"
    NUMBER = "a number"
    OBJECT = "an object"
    TEXT_LIST = "an array"
    OBJECT_LIST = "an array of objects"


@dataclass(frozen=True, slots=True)
class Field:
    """One payload field.

    Attributes:
        name: the wire name.
        kind: what its value may be.
        required: whether a payload without it is malformed.
        scalars_max: Unicode scalar values that `validate` allows the string, or each string of a list; None for no
            bound of its own.
        members: the closed set that `validate` enforces, in the spec's order; empty for an open field.
        fields: the fields of an object, or of each object in a list.
    """

    name: str
    kind: FieldKind
    required: bool = False
    scalars_max: int | None = None
    members: tuple[str, ...] = ()
    fields: tuple["Field", ...] = ()


@dataclass(frozen=True, slots=True)
class EventType:
    """One event type of the vocabulary.

    Attributes:
        name: the wire name, `agent.text`.
        fields: the required ones in the spec's order, then the optional ones; faults are reported in this order.
    """

    name: str
    fields: tuple[Field, ...]


def required(field: Field) -> Field:
    """The same field, required."""
    return Field(field.name, field.kind, True, field.scalars_max, field.members, field.fields)  # noqa: FBT003 - the field's own place


def text(name: str) -> Field:
    """An optional string without a bound of its own: an identifier, a reference, an open name."""
    return Field(name, FieldKind.TEXT)


def excerpted(name: str) -> Field:
    """An optional string that is excerpted at capture."""
    return Field(name, FieldKind.TEXT, scalars_max=MAX_EXCERPT_SCALARS)


def member(name: str, members: tuple[str, ...]) -> Field:
    """A required string from a set that is closed at validation and open at parse."""
    return Field(name, FieldKind.TEXT, required=True, members=members)


def flag(name: str) -> Field:
    """An optional boolean."""
    return Field(name, FieldKind.FLAG)


def count(name: str) -> Field:
    """An optional integer, 0 or more; `5.0` is one, `true` is none."""
    return Field(name, FieldKind.COUNT)


def number(name: str) -> Field:
    """An optional number of either sign."""
    return Field(name, FieldKind.NUMBER)


USAGE: Final = Field(
    "usage",
    FieldKind.OBJECT,
    fields=(
        count("inputTokens"),
        count("outputTokens"),
        count("cacheReadTokens"),
        count("cacheCreationTokens"),
        text("unit"),
    ),
)
"""One wire shape, shared by `run.finished` and `agent.completed`."""
