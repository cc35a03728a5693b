"""The shape in which the vocabulary is written down: fields, closed sets, event types and families, as frozen data.

It must never hold a rule: `parse` and `validate` are driven from this data, the payload classes and the reference page
are generated from it.

Spec: Run lifecycle
"""

from dataclasses import dataclass, replace
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
class Member:
    """One member of a closed set.

    Attributes:
        name: as it stands on the wire.
        meaning: what it says, in a phrase.
    """

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ClosedSet:
    """A set of strings that is closed at validation and open at parse.

    Attributes:
        name: its name as a type, `RunOutcome`.
        members: in the spec's order.
    """

    name: str
    members: tuple[Member, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The members as they stand on the wire."""
        return tuple(member.name for member in self.members)


@dataclass(frozen=True, slots=True)
class Field:
    """One payload field.

    Attributes:
        name: the wire name.
        kind: what its value may be.
        meaning: what it says, in a phrase, with its unit.
        required: whether a payload without it is malformed.
        scalars_max: Unicode scalar values that `validate` allows the string, or each string of a list; None for no
            bound of its own.
        closed_set: the set that `validate` holds it to; None for an open field.
        fields: the fields of an object, or of each object in a list.
        class_name: the name of that object as a type; empty for other kinds.
    """

    name: str
    kind: FieldKind
    meaning: str = ""
    required: bool = False
    scalars_max: int | None = None
    closed_set: ClosedSet | None = None
    fields: tuple["Field", ...] = ()
    class_name: str = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The closed set's members, in the spec's order; empty for an open field."""
        return self.closed_set.names if self.closed_set is not None else ()


@dataclass(frozen=True, slots=True)
class EventType:
    """One event type of the vocabulary.

    Attributes:
        name: the wire name, `agent.text`.
        fields: the required ones in the spec's order, then the optional ones; faults are reported in this order.
        meaning: what an event of it says, in a sentence.
        rules: what `validate` asks of it beyond kinds, closed sets and bounds, a sentence each.
    """

    name: str
    fields: tuple[Field, ...]
    meaning: str
    rules: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        """Its name as a type: `AgentToolUse` for `agent.tool_use`."""
        return "".join(word.capitalize() for word in self.name.replace(".", "_").split("_"))


@dataclass(frozen=True, slots=True)
class Family:
    """The event types of one domain.

    Attributes:
        name: what their names begin with, `agent`.
        section: the section of the specification that defines them.
        meaning: what they are about, in a sentence.
        types: in the spec's order.
    """

    name: str
    section: str
    meaning: str
    types: tuple[EventType, ...]


def required(field: Field) -> Field:
    """The same field, required."""
    return replace(field, required=True)


def text(name: str, meaning: str) -> Field:
    """An optional string without a bound of its own: an identifier, a reference, an open name."""
    return Field(name, FieldKind.TEXT, meaning)


def excerpted(name: str, meaning: str, scalars_max: int = MAX_EXCERPT_SCALARS) -> Field:
    """An optional string that is excerpted at capture."""
    return Field(name, FieldKind.TEXT, meaning, scalars_max=scalars_max)


def member(name: str, closed_set: ClosedSet, meaning: str) -> Field:
    """A required string from a set that is closed at validation and open at parse."""
    return Field(name, FieldKind.TEXT, meaning, required=True, closed_set=closed_set)


def flag(name: str, meaning: str) -> Field:
    """An optional boolean."""
    return Field(name, FieldKind.FLAG, meaning)


def count(name: str, meaning: str) -> Field:
    """An optional integer, 0 or more; `5.0` is one, `true` is none."""
    return Field(name, FieldKind.COUNT, meaning)


def number(name: str, meaning: str) -> Field:
    """An optional number of either sign."""
    return Field(name, FieldKind.NUMBER, meaning)


def truncated(what: str) -> Field:
    """The flag that travels beside an excerpt."""
    return flag("truncated", f"whether {what} was cut to its bound")


USAGE: Final = Field(
    "usage",
    FieldKind.OBJECT,
    "what was consumed, as the harness reports it",
    fields=(
        count("inputTokens", "tokens read"),
        count("outputTokens", "tokens written"),
        count("cacheReadTokens", "tokens read from a cache"),
        count("cacheCreationTokens", "tokens written to a cache"),
        text("unit", "what is counted; absent means tokens, and unlike units are never summed"),
    ),
    class_name="Usage",
)
"""One wire shape, shared by `run.finished` and `agent.completed`."""
