"""When two events are of one variant: the same shape, whatever the names, numbers and times in it."""

import re
from collections.abc import Iterator
from typing import Any, Final

from ethogram import MAX_EXCERPT_SCALARS, Event
from ethogram.vocabulary import VOCABULARY, Field

_NARRATED: Final = frozenset({"text", "inputExcerpt", "resultExcerpt"})
_ENVELOPE_HEADS: Final = frozenset(
    {"event", "v", "type", "runId", "seq", "ts", "payload", "capturedAt", "key", "value", "partition"}
)


def variant_of(event: Event) -> str:
    """Describe the variant of an event.

    Args:
        event: an event of a known type.

    Returns:
        One line: the type, the fields that are there, the members of closed sets, flags, and classes of texts.
    """
    told = [event.type, *_tell(VOCABULARY[event.type].fields, event.payload, "")]
    return " ".join([*told, *(["capturedAt"] if event.captured_at is not None else [])])


def _tell(fields: tuple[Field, ...], payload: dict[str, Any], prefix: str) -> Iterator[str]:
    for field in fields:
        if field.name not in payload:
            continue
        name, value = f"{prefix}{field.name}", payload[field.name]
        if field.fields and isinstance(value, dict):
            yield from _tell(field.fields, value, f"{name}.")
        elif field.members or isinstance(value, bool):
            yield f"{name}={value}"
        elif field.name in _NARRATED:
            yield f"{name}:{_class_of_text(value)}"
        elif field.name == "reason":
            yield f"{name}:{re.sub(r'[0-9.]+', 'N', value).replace(' ', '-')}"
        elif field.name == "detail":
            yield f"{name}:{_class_of_detail(value)}"
        elif field.name == "sourceRunId":
            yield f"{name}{_class_of_run_id(value)}"
        elif field.name == "field":
            yield f"{name}:{value.partition('.')[0]}{'.*' if '.' in value else ''}"
        else:
            yield name


def _class_of_text(text: str) -> str:
    if not text:
        return "empty"
    if "\N{REPLACEMENT CHARACTER}" in text:
        return "replaced"
    if any(letter < " " and letter not in "\n\t" for letter in text):
        return "controls"
    return "ascii" if text.isascii() else "beyond-ascii"


def _class_of_detail(detail: str) -> str:
    """Which rule a diagnostic speaks of: where it begins, what came, and the kind at its end."""
    head = re.split(r"[.:\[]", detail, maxsplit=1)[0]
    said, _, kind = detail.rpartition(" (")
    came = re.sub(r"[0-9]+", "N", said.partition(", got ")[2].partition(":")[0])
    words = ["*" if "." in word else word for word in came.split()]
    return f"{head if head in _ENVELOPE_HEADS else 'member'}/{'-'.join(words)}/{kind.rstrip(')')}"


def _class_of_run_id(run_id: str) -> str:
    if run_id.startswith("unattributed:"):
        return ":unattributed"
    return ":cut" if len(run_id) == MAX_EXCERPT_SCALARS else ""
