"""The payload classes as source code, from the vocabulary."""

import textwrap
from collections.abc import Iterable

from ethogram.payloads.base import attribute_name
from ethogram.vocabulary import FAMILIES, VOCABULARY, ClosedSet, EventType, Family, Field, FieldKind

_NOTICE = "Generated from the vocabulary by `make generate`; change the vocabulary, not this file."

_LINE_LENGTH = 120

Fields = tuple[Field, ...]

_PLAIN_TYPES = {
    FieldKind.TEXT: "str",
    FieldKind.FLAG: "bool",
    FieldKind.COUNT: "int",
    FieldKind.NUMBER: "float",
    FieldKind.TEXT_LIST: "tuple[str, ...]",
}


def _fields(fields: Iterable[Field]) -> Iterable[Field]:
    """Every field, and those inside it, outermost first."""
    for one in fields:
        yield one
        yield from _fields(one.fields)


def _all_fields() -> list[Field]:
    return [one for event_type in VOCABULARY.values() for one in _fields(event_type.fields)]


def object_fields() -> dict[str, Field]:
    """Every object of the vocabulary that has a class of its own, by the name of the class."""
    return {one.class_name: one for one in _all_fields() if one.class_name}


def closed_sets() -> dict[str, ClosedSet]:
    """Every closed set of the vocabulary by its name."""
    return {one.closed_set.name: one.closed_set for one in _all_fields() if one.closed_set is not None}


def _annotation(one: Field) -> str:
    if one.closed_set is not None:
        return f"{one.closed_set.name} | UnknownMember"
    if one.kind is FieldKind.OBJECT:
        return one.class_name
    if one.kind is FieldKind.OBJECT_LIST:
        return f"tuple[{one.class_name}, ...]"
    return _PLAIN_TYPES[one.kind]


def _bound(one: Field) -> str:
    return f"; at most {one.scalars_max} scalars" if one.scalars_max is not None else ""


def _wrapped(text: str, indent: str, following: str) -> list[str]:
    """Break a text into lines as long as the house allows."""
    return textwrap.wrap(
        text,
        _LINE_LENGTH,
        initial_indent=indent,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _class(name: str, base: str, sentences: list[str], section: str, fields: Fields, constants: list[str]) -> str:
    doc = _wrapped(f'"""{sentences[0]}', "    ", "    ")
    for sentence in sentences[1:]:
        doc += ["", *_wrapped(sentence, "    ", "    ")]
    doc += ["", "    Attributes:"]
    for one in fields:
        doc += _wrapped(f"{attribute_name(one.name)}: {one.meaning}{_bound(one)}.", " " * 8, " " * 12)
    doc += ["", f"    Spec: {section}", '    """', ""]
    doc += [f"    {constant}" for constant in constants]
    doc += [""]
    for one in fields:
        annotation = _annotation(one)
        doc.append(
            f"    {attribute_name(one.name)}: {annotation}"
            if one.required
            else f"    {attribute_name(one.name)}: {annotation} | None = None"
        )
    return "\n".join(["@dataclass(frozen=True, slots=True, kw_only=True)", f"class {name}({base}):", *doc, ""])


def _objects_constant(fields: Fields) -> list[str]:
    members = [f'"{one.class_name}": {one.class_name}' for one in fields if one.class_name]
    return [f"OBJECTS: ClassVar[Objects] = {{{', '.join(members)}}}"] if members else []


def _closed_set(one: ClosedSet) -> str:
    names = ", ".join(f'"{name}"' for name in one.names)
    meanings = [line for member in one.members for line in _wrapped(f"{member.name}: {member.meaning}.", "", "    ")]
    return "\n".join([f"{one.name}: TypeAlias = Literal[{names}]", '"""A closed set.', "", *meanings, '"""', ""])


def objects_module() -> str:
    """The closed sets and the objects inside payloads, which several types share."""
    parts = [
        f'"""Closed sets, and the objects inside payloads.\n\n{_NOTICE}\n\nSpec: Run lifecycle\n"""\n',
        "from dataclasses import dataclass\nfrom typing import ClassVar, Literal, TypeAlias\n",
        "from ethogram.payloads.base import Attributes, PayloadObject, attributes_of_object\n",
        *(_closed_set(one) for one in closed_sets().values()),
    ]
    for name, one in object_fields().items():
        section = next(
            family.section for family in FAMILIES for event_type in family.types if one in _fields(event_type.fields)
        )
        attributes = f'ATTRIBUTES: ClassVar[Attributes] = attributes_of_object("{name}")'
        constants = [attributes, *_objects_constant(one.fields)]
        sentences = [f"The object `{one.name}`: {one.meaning}."]
        parts.append(_class(name, "PayloadObject", sentences, section, one.fields, constants))
    return "\n".join(parts)


def _ordered(names: Iterable[str]) -> list[str]:
    """Constants, then classes, then functions, each in the order of its letters, as the house sorts."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


def _used_names(event_types: tuple[EventType, ...]) -> list[str]:
    names = set()
    for event_type in event_types:
        for one in event_type.fields:
            if one.closed_set is not None:
                names.add(one.closed_set.name)
            if one.class_name:
                names.add(one.class_name)
    return sorted(names)


def family_module(family: Family) -> str:
    """One module of payload classes."""
    fields = [one for event_type in family.types for one in event_type.fields]
    used = _used_names(family.types)
    base_names = ["Attributes", "KnownPayload", "attributes_of_type"]
    if any(one.class_name for one in fields):
        base_names.append("Objects")
    if any(one.closed_set for one in fields):
        base_names.append("UnknownMember")
    imports = [f"from ethogram.payloads.base import {', '.join(_ordered(base_names))}"]
    if used:
        imports.append(f"from ethogram.payloads.objects import {', '.join(used)}")
    parts = [
        f'"""The payload classes of the `{family.name}` family.\n\n{_NOTICE}\n\nSpec: {family.section}\n"""\n',
        "from dataclasses import dataclass\nfrom typing import ClassVar\n",
        "\n".join([*imports, ""]),
    ]
    for event_type in family.types:
        constants = [
            f'TYPE: ClassVar[str] = "{event_type.name}"',
            f'ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("{event_type.name}")',
            *_objects_constant(event_type.fields),
        ]
        said = f"`{event_type.name}`: {event_type.meaning[0].lower()}{event_type.meaning[1:]}"
        sentences = [said, *event_type.rules]
        parts.append(
            _class(event_type.class_name, "KnownPayload", sentences, family.section, event_type.fields, constants)
        )
    return "\n".join(parts)


def registry_module() -> str:
    """The union of all payloads, and the class of each type."""
    imports = [
        f"from ethogram.payloads.{family.name} import {', '.join(sorted(one.class_name for one in family.types))}"
        for family in sorted(FAMILIES, key=lambda family: family.name)
    ]
    classes = [one.class_name for one in VOCABULARY.values()]
    return "\n".join(
        [
            f'"""The union of all payloads, and the class of each type.\n\n{_NOTICE}\n\nSpec: Status\n"""\n',
            "from collections.abc import Mapping",
            "from types import MappingProxyType",
            "from typing import Final, TypeAlias\n",
            *sorted([*imports, "from ethogram.payloads.base import KnownPayload, UnknownPayload"]),
            "",
            f"Payload: TypeAlias = {' | '.join([*classes, 'UnknownPayload'])}",
            '"""What `read_payload` gives: match on these, and a type checker says which are missing."""',
            "",
            "PAYLOAD_CLASSES: Final[Mapping[str, type[KnownPayload]]] = MappingProxyType({",
            *(f"    {name}.TYPE: {name}," for name in classes),
            "})",
            '"""The class of each type of the vocabulary."""',
            "",
        ]
    )


def init_module() -> str:
    """The public list of the package."""
    by_module: dict[str, list[str]] = {
        "base": ["KnownPayload", "PayloadObject", "UnknownMember", "UnknownPayload"],
        "objects": [*closed_sets(), *object_fields()],
        "read": ["read_payload"],
        "registry": ["PAYLOAD_CLASSES", "Payload"],
    }
    for family in FAMILIES:
        by_module[family.name] = [one.class_name for one in family.types]
    imports = [
        f"from ethogram.payloads.{module} import {', '.join(sorted(names))}"
        for module, names in sorted(by_module.items())
    ]
    names = _ordered(name for names in by_module.values() for name in names)
    return "\n".join(
        [
            f'"""Typed payloads: the public list, and no logic.\n\n{_NOTICE}\n\nSpec: Status\n"""\n',
            *imports,
            "",
            f"__all__ = [{', '.join(repr(name) for name in names)}]",
            "",
        ]
    )
