"""Programs that use every payload class, made from the vocabulary: right ones, and ones with one mistake a line.

The types expected here are spelled from the vocabulary a second time, apart from what generates the classes.
"""

from collections.abc import Iterator

from ethogram.vocabulary import VOCABULARY, EventType, Field, FieldKind

_IMPORTS = """\
from typing import assert_never, assert_type

import ethogram as e

"""

_TYPES = {
    FieldKind.TEXT: "str",
    FieldKind.FLAG: "bool",
    FieldKind.COUNT: "int",
    FieldKind.NUMBER: "float",
    FieldKind.TEXT_LIST: "tuple[str, ...]",
}

_VALUES = {
    FieldKind.TEXT: '"x"',
    FieldKind.FLAG: "True",
    FieldKind.COUNT: "1",
    FieldKind.NUMBER: "0.5",
    FieldKind.TEXT_LIST: '("x",)',
}


def _attribute(wire_name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in wire_name)


def _type_of(field: Field) -> str:
    if field.closed_set is not None:
        named = f"e.{field.closed_set.name} | e.UnknownMember"
    elif field.kind is FieldKind.OBJECT:
        named = f"e.{field.class_name}"
    elif field.kind is FieldKind.OBJECT_LIST:
        named = f"tuple[e.{field.class_name}, ...]"
    else:
        named = _TYPES[field.kind]
    return named if field.required else f"{named} | None"


def _value_of(field: Field) -> str:
    if field.closed_set is not None:
        return f'"{field.members[-1]}"'
    if field.kind is FieldKind.OBJECT:
        return _call(field.class_name, field.fields)
    if field.kind is FieldKind.OBJECT_LIST:
        return f"({_call(field.class_name, field.fields)},)"
    return _VALUES[field.kind]


def _call(class_name: str, fields: tuple[Field, ...], **instead: str | None) -> str:
    """A call of a class with every field; `instead` replaces the value of some, and leaves out those of None."""
    values = {_attribute(field.name): _value_of(field) for field in fields} | instead
    arguments = [f"{name}={value}" for name, value in values.items() if value is not None]
    return f"e.{class_name}({', '.join(arguments)})"


def _classes() -> dict[str, tuple[Field, ...]]:
    """The fields of every class: of each type, and of each object inside one."""
    classes: dict[str, tuple[Field, ...]] = {}
    for event_type in VOCABULARY.values():
        classes[event_type.class_name] = event_type.fields
        classes |= {field.class_name: field.fields for field in event_type.fields if field.class_name}
    return classes


def right_program() -> str:
    """A program that a type checker has nothing to say of: every class built, every attribute of its type."""
    lines = [_IMPORTS]
    for class_name, fields in _classes().items():
        lines += [f"def right_{class_name}(p: e.{class_name}) -> None:", f"    {_call(class_name, fields)}"]
        lines += [f"    assert_type(p.{_attribute(field.name)}, {_type_of(field)})" for field in fields]
    for event_type in VOCABULARY.values():
        lines += [
            f"def draft_{event_type.class_name}(p: e.{event_type.class_name}) -> e.EventDraft:",
            f"    assert_type(p.excerpted(), e.{event_type.class_name})",
            "    return p.draft()",
        ]
    return "\n".join([*lines, *_match("every", list(VOCABULARY.values())), *_match_members()]) + "\n"


def _match(name: str, event_types: list[EventType]) -> list[str]:
    """A function that matches a payload on these types and asserts that no other is left."""
    lines = [f"def match_{name}(event: e.Event) -> str:", "    payload = e.read_payload(event)"]
    lines += ["    match payload:"]
    for event_type in event_types:
        field = next((field for field in event_type.fields if field.required), event_type.fields[0])
        pattern = f"e.{event_type.class_name}({_attribute(field.name)}=found)"
        lines += [
            f"        case {pattern}:",
            f"            assert_type(found, {_type_of(field)})",
            "            return ''",
        ]
    lines += ["        case e.UnknownPayload(type=name):", "            return name"]
    return [*lines, "        case _:", "            assert_never(payload)"]


def _match_members() -> list[str]:
    """A function that matches an outcome on all its members and the unfamiliar one."""
    members = next(field for field in VOCABULARY["run.finished"].fields if field.closed_set is not None).members
    lines = ["def match_outcome(p: e.RunFinished) -> str:", "    match p.outcome:"]
    for name in members:
        lines += [f'        case "{name}":', "            return ''"]
    lines += ["        case e.UnknownMember() as other:", "            return other"]
    return [*lines, "        case _:", "            assert_never(p.outcome)"]


def _mistakes() -> Iterator[str]:
    """Lines that must not pass, one mistake each."""
    for class_name, fields in _classes().items():
        yield f"{_call(class_name, fields, misspelt='1')}"
        yield f"def read_{class_name}(p: e.{class_name}) -> object: return p.misspelt"
        for field in fields:
            attribute = _attribute(field.name)
            yield _call(class_name, fields, **{attribute: "object()"})
            yield f"def set_{class_name}_{attribute}(p: e.{class_name}) -> None: p.{attribute} = p.{attribute}"
            if field.required:
                yield _call(class_name, fields, **{attribute: None})
                yield _call(class_name, fields, **{attribute: "None"})
            if field.closed_set is not None:
                yield _call(class_name, fields, **{attribute: f'"{field.members[0]}x"'})


def wrong_program() -> tuple[str, set[int]]:
    """A program, and the 1-based numbers of its lines that a type checker must name; it must name no other."""
    lines = _IMPORTS.splitlines()
    wrong = set[int]()
    for line in _mistakes():
        lines.append(line)
        wrong.add(len(lines))
    for left_out in VOCABULARY.values():
        lines += _match(left_out.class_name, [one for one in VOCABULARY.values() if one is not left_out])
        wrong.add(len(lines))
    return "\n".join(lines) + "\n", wrong
