"""How a payload class and a payload on the wire become each other.

The classes are generated from the vocabulary; what they share is here. Absent is `None`, since a null never stands for
a known field. What the vocabulary does not know is kept in `extra` and written out again. It must never judge: a value
that breaks a bound or a closed set is carried, and `validate` says so.

Spec: Agent observation
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar

from ethogram.envelope import EventDraft, JsonValue
from ethogram.excerpt import excerpt
from ethogram.vocabulary import VOCABULARY, Field, FieldKind

_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TRUNCATED: Final = "truncated"

Attributes: TypeAlias = Mapping[str, Field]
"""The vocabulary's fields by the names they have as attributes."""

Objects: TypeAlias = "Mapping[str, type[PayloadObject]]"
"""The classes of objects inside a payload, by name."""

_OBJECT_FIELDS: Final = MappingProxyType(
    {one.class_name: one for event_type in VOCABULARY.values() for one in event_type.fields if one.class_name}
)


class UnknownMember(str):
    """A string that is none of its closed set's members, kept exactly as it came.

    It lets a type checker tell a member that was misspelt from one that was read: only the latter is of this class.
    """

    __slots__ = ()


def attributes_of_type(event_type: str) -> Attributes:
    """The fields of an event type by the names they have as attributes.

    Spec: Agent observation
    """
    return _attributes(VOCABULARY[event_type].fields)


def attributes_of_object(class_name: str) -> Attributes:
    """The fields of an object inside payloads by the names they have as attributes.

    Spec: Agent observation
    """
    return _attributes(_OBJECT_FIELDS[class_name].fields)


def _attributes(fields: tuple[Field, ...]) -> Attributes:
    return MappingProxyType({attribute_name(one.name): one for one in fields})


def attribute_name(wire_name: str) -> str:
    """The Python name of a field: `tool_use_id` for `toolUseId`.

    Spec: Agent observation
    """
    return _WORD_START.sub("_", wire_name).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadObject:
    """What every payload class, and every object inside one, can do.

    Attributes:
        extra: fields that the vocabulary does not know, under their wire names, as they came.
    """

    ATTRIBUTES: ClassVar[Attributes] = {}
    """The vocabulary's fields by the names they have here."""
    OBJECTS: ClassVar[Objects] = {}
    """The classes of the objects among them, by name."""

    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the two ways to give a field apart."""
        for name, one in self.ATTRIBUTES.items() if self.extra else ():
            if one.name in self.extra:
                raise ValueError(f"extra: expected fields that the vocabulary does not know, got {name}")

    @classmethod
    def from_json(cls, value: Mapping[str, JsonValue]) -> Self:
        """Read an object that is known to be representable, as every payload of a parsed event is.

        Args:
            value: the object under its wire names; not changed, and what is in `extra` is shared with it.

        Returns:
            The same as a value of this class.

        Spec: Agent observation
        """
        rest = dict(value)
        given: dict[str, Any] = {
            name: _read(one, rest.pop(one.name), cls.OBJECTS)
            for name, one in cls.ATTRIBUTES.items()
            if one.name in value
        }
        return cls(extra=rest, **given)

    def to_json(self) -> dict[str, JsonValue]:
        """Write the object under its wire names, absent fields left out, `extra` last.

        Spec: Agent observation
        """
        written: dict[str, JsonValue] = {}
        for name, one in self.ATTRIBUTES.items():
            value = getattr(self, name)
            if value is not None:
                written[one.name] = _write(value)
        return written | dict(self.extra)

    def excerpted(self) -> Self:
        """Cut every narrated text to its bound, and say so.

        Returns:
            The same where nothing is over its bound; else a copy with `truncated` set, on the object that has the flag.
            A type that has none gets it among its `extra`, for nothing is elided silently.

        Spec: On narration
        """
        cut, is_unsaid = _cut_object(self)
        return replace(cut, extra={**cut.extra, _TRUNCATED: True}) if is_unsaid else cut


PayloadObjectT = TypeVar("PayloadObjectT", bound=PayloadObject)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPayload(PayloadObject):
    """What every payload class of the vocabulary can do."""

    TYPE: ClassVar[str] = ""
    """The event type, as it stands on the wire."""

    def draft(self, captured_at: str | None = None) -> EventDraft:
        """Make the draft that a producer emits.

        Args:
            captured_at: ISO-8601 from the producer's clock, or None to leave it out.

        Returns:
            A draft; the sink that takes it, or `validate`, checks it.

        Spec: The envelope
        """
        return EventDraft(self.TYPE, self.to_json(), captured_at)


@dataclass(frozen=True, slots=True)
class UnknownPayload:
    """The payload of an event whose type is outside the vocabulary, carried as it is.

    Attributes:
        type: the event's type.
        payload: any JSON value; shared with the event.
    """

    type: str
    payload: JsonValue

    def draft(self, captured_at: str | None = None) -> EventDraft:
        """Make the draft that a producer emits.

        Args:
            captured_at: ISO-8601 from the producer's clock, or None to leave it out.

        Spec: The envelope
        """
        return EventDraft(self.type, self.payload, captured_at)


def _read(one: Field, value: JsonValue, objects: Objects) -> Any:  # noqa: ANN401 - as `one` says
    if one.closed_set is not None:
        return value if value in one.members else UnknownMember(value)
    match one.kind:
        case FieldKind.COUNT:
            return int(value)  # 5.0 and 5 are one value on this wire.
        case FieldKind.OBJECT:
            return objects[one.class_name].from_json(value)
        case FieldKind.OBJECT_LIST:
            return tuple(map(objects[one.class_name].from_json, value))
        case FieldKind.TEXT_LIST:
            return tuple(value)
        case FieldKind.TEXT | FieldKind.FLAG | FieldKind.NUMBER:
            return value


def _write(value: Any) -> JsonValue:  # noqa: ANN401 - what an attribute holds
    if isinstance(value, PayloadObject):
        return value.to_json()
    if isinstance(value, tuple | list):
        return list(map(_write, value))
    return str(value) if isinstance(value, UnknownMember) else value


def _cut_object(value: PayloadObjectT) -> tuple[PayloadObjectT, bool]:
    """Cut an object's texts; say as well whether something was cut that no flag tells of yet."""
    changes: dict[str, Any] = {}
    is_unsaid = False
    for name, one in value.ATTRIBUTES.items():
        held = getattr(value, name)
        cut, says_nothing = _cut_value(one, held)
        is_unsaid = is_unsaid or says_nothing
        if cut is not held:
            changes[name] = cut
    if is_unsaid and _TRUNCATED in value.ATTRIBUTES:
        changes[_TRUNCATED] = True
        is_unsaid = False
    for name, one in value.ATTRIBUTES.items() if is_unsaid else ():
        inner = changes.get(name, getattr(value, name))
        if one.kind is FieldKind.OBJECT and isinstance(inner, PayloadObject) and _TRUNCATED in inner.ATTRIBUTES:
            changes[name] = replace(inner, **dict[str, Any](truncated=True))
            is_unsaid = False  # The dossier's one flag tells of the options' labels as well.
    return replace(value, **changes) if changes else value, is_unsaid


def _cut_value(one: Field, value: Any) -> tuple[Any, bool]:  # noqa: ANN401 - what an attribute holds
    """Cut what one attribute holds; the very same value where nothing is over its bound."""
    if isinstance(value, PayloadObject):
        return _cut_object(value)
    if isinstance(value, tuple | list):
        cuts = [_cut_value(one, element) for element in value]
        is_changed = any(cut is not element for (cut, _), element in zip(cuts, value, strict=True))
        return tuple(cut for cut, _ in cuts) if is_changed else value, any(unsaid for _, unsaid in cuts)
    if one.scalars_max is None or not isinstance(value, str) or len(value) <= one.scalars_max:
        return value, False
    return excerpt(value, one.scalars_max).text, True
