"""The reference page of the vocabulary, as Markdown."""

from collections.abc import Iterable

from ethogram import bounds
from ethogram.vocabulary import FAMILIES, ClosedSet, EventType, Family, Field, FieldKind
from tools.generate.payloads import closed_sets, object_fields

_OPENING = """\
# The vocabulary, version 1

<!-- Generated from ethogram/vocabulary by `make generate`; change the vocabulary, not this page. -->

Every event type that the kit knows, with its fields. Types outside it are open: they are parsed, kept and written again
as they came, and only the two universal bounds apply to them. The same holds for fields that a known type does not
list, and for unfamiliar members of a closed set.

What **parse** refuses: an envelope that is not exactly the one below, a missing required field, a known field of
another kind, a null for a known field, an integral number beyond 9,007,199,254,740,991 in magnitude. What **validate**
refuses besides: a member outside its closed set, a text over its bound, a broken rule. A forwarder parses; a sink may
validate.
"""

_ENVELOPE = """\
## The envelope

A producer emits a draft: `type`, `payload` and perhaps `capturedAt`. A sink makes it an event by stamping the rest. No
other member may stand there, none may be null, and none may be repeated.

| member | stamped by | kind | meaning |
| --- | --- | --- | --- |
| `v` | sink | the integer 1 | the schema version |
| `type` | producer | a string | dot-namespaced, `agent.tool_use` |
| `runId` | sink | a string | the run that the draft was submitted to |
| `seq` | sink | an integer from 1 to 9007199254740991 | gapless within the run, from 1 |
| `ts` | sink | a string | ISO-8601, the sink's clock at append |
| `payload` | producer | any JSON value; an object for every known type | as its type says |
| `capturedAt` | producer, optional | a string | ISO-8601, the producer's clock at capture |

Canonical bytes have the members in this order, payload keys sorted by their UTF-8 bytes at every depth, no whitespace,
and numbers as ECMAScript writes them.
"""


def reference_page() -> str:
    """Write the page.

    Returns:
        Markdown that ends in one line feed.
    """
    parts = [_OPENING, _ENVELOPE, _bounds(), *map(_family, FAMILIES), _objects(), _sets()]
    return "\n".join(parts)


def _bounds() -> str:
    rows = [
        ("any string, at any depth, of any type", f"{bounds.MAX_TEXT_SCALARS:,} Unicode scalar values"),
        ("a payload, of any type", f"{bounds.MAX_PAYLOAD_BYTES:,} bytes of its canonical UTF-8 form"),
        ("`text` of `agent.text`", f"{bounds.MAX_TEXT_SCALARS:,} Unicode scalar values"),
        ("every other narrated text", f"{bounds.MAX_EXCERPT_SCALARS:,} Unicode scalar values"),
        ("levels of arrays and objects in a payload (this kit)", f"{bounds.MAX_PAYLOAD_DEPTH:,}"),
    ]
    return "\n".join(["## Bounds", "", *_table(("what", "at most"), rows), ""])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A Markdown table, a line a row."""
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *body]


def _kind(one: Field) -> str:
    if one.closed_set is not None:
        return f"a string, one of [{one.closed_set.name}](#{one.closed_set.name.lower()})"
    if one.class_name:
        article = "an array of" if one.kind is FieldKind.OBJECT_LIST else "an object,"
        return f"{article} [{one.class_name}](#{one.class_name.lower()})"
    if one.kind is FieldKind.TEXT_LIST:
        return "an array of strings"
    return str(one.kind.value)


def _fields(fields: Iterable[Field]) -> list[str]:
    rows = [
        (
            f"`{one.name}`",
            "yes" if one.required else "",
            _kind(one),
            "" if one.scalars_max is None else f"{one.scalars_max:,} scalars",
            one.meaning,
        )
        for one in fields
    ]
    return _table(("field", "required", "kind", "bound", "meaning"), rows)


def _family(family: Family) -> str:
    return "\n".join([f"## {family.name}", "", family.meaning, "", *map(_event_type, family.types)])


def _event_type(event_type: EventType) -> str:
    rules = [f"Rule: {rule}\n" for rule in event_type.rules]
    return "\n".join(
        [
            f"### {event_type.name}",
            "",
            f"{event_type.meaning} In Python: `ethogram.{event_type.class_name}`.",
            "",
            *rules,
            *_fields(event_type.fields),
            "",
        ]
    )


def _objects() -> str:
    parts = ["## Objects", ""]
    for name, one in object_fields().items():
        parts += [f"### {name}", "", f"`{one.name}`: {one.meaning}.", "", *_fields(one.fields), ""]
    return "\n".join(parts)


def _sets() -> str:
    parts = ["## Closed sets", ""]
    for one in closed_sets().values():
        parts += [f"### {one.name}", "", *_table(("member", "meaning"), _members(one)), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _members(one: ClosedSet) -> list[tuple[str, str]]:
    return [(f"`{member.name}`", member.meaning) for member in one.members]
