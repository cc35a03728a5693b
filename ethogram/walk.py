"""Walks over JSON values that no nesting can make overflow: every one keeps its own stack.

It knows JSON and its numbers, and must never know an event type.

Spec: The founding decision: two implementations, one corpus
"""

import math
from collections.abc import Iterator
from typing import Any, Final

from ethogram.bounds import MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH, MAX_SAFE_INTEGER
from ethogram.envelope import JsonValue, is_text

Node = tuple[Any, str | int] | None
"""A place in a value: None for the root, else (the place of the container, the key or index). Rendered only on need."""


class _Mark:
    """A leaf that a walk puts where no JSON value stands."""


BAD_KEY: Final = _Mark()
"""Yielded at an object whose keys are not all UTF-8 text; the walk does not enter it."""

TOO_DEEP: Final = _Mark()
"""Yielded at a container below the depth limit; the walk does not enter it."""

TOO_DEEP_FAULT: Final = f"expected a payload of at most {MAX_PAYLOAD_DEPTH} levels, got more"
"""What is wrong there, as an error's text says it."""


def render_path(node: Node, root: str = "payload") -> str:
    """Write a place as a path: keys joined as they are after a dot, indexes in brackets.

    Args:
        node: the place.
        root: what the path starts at.

    Returns:
        A path such as `payload.options[0].label`.

    Spec: Sink guide: refusing a validation error
    """
    steps: list[str] = []
    while node is not None:
        node, key = node
        steps.append(f".{key}" if isinstance(key, str) else f"[{key}]")
    return root + "".join(reversed(steps))


def _open(value: JsonValue) -> Iterator[tuple[str | int, JsonValue]]:
    return iter(value.items()) if type(value) is dict else enumerate(value)


def walk(root: JsonValue, depth_max: int = MAX_PAYLOAD_DEPTH) -> Iterator[tuple[Node, Any]]:
    """Yield every leaf in document order, with its place.

    Args:
        root: any Python value; only exact dicts and lists are entered. It must not change meanwhile.
        depth_max: levels of containers to enter.

    Yields:
        (place, leaf); the leaf is `BAD_KEY` or `TOO_DEEP` where a container cannot be entered. A value that contains
        itself is one that is too deep.

    Spec: The founding decision: two implementations, one corpus
    """
    holder: list[JsonValue] = [root]
    stack: list[tuple[Iterator[tuple[str | int, JsonValue]], Node]] = [(_open(holder), None)]
    while stack:
        children, parent = stack[-1]
        for key, value in children:
            node = (parent, key) if len(stack) > 1 else None
            kind = type(value)
            if kind is not dict and kind is not list:
                yield node, value
            elif len(stack) > depth_max:
                yield node, TOO_DEEP
            elif kind is dict and not all(map(is_text, value)):
                yield node, BAD_KEY
            else:
                stack.append((_open(value), node))
                break
        else:
            stack.pop()


def find_leaf_fault(leaf: object) -> str | None:
    """Say why a leaf of a walk is no JSON value.

    Args:
        leaf: what `walk` yielded.

    Returns:
        The fault as `expected …, got …`, or None for a string, a finite number, a boolean or None.

    Spec: Sink guide: refusing a validation error
    """
    kind = type(leaf)
    if kind is str:
        return None if is_text(leaf) else "expected text that UTF-8 can hold, got a lone surrogate"
    if leaf is None or kind is bool:
        return None
    if kind is int or kind is float:
        return None if _is_finite(leaf) else "expected a finite number that a double can hold, got another"
    if leaf is BAD_KEY:
        return "expected keys that are UTF-8 text, got another key"
    if leaf is TOO_DEEP:
        return TOO_DEEP_FAULT
    return f"expected a JSON value, got a {kind.__name__}"


def _is_finite(value: Any) -> bool:  # noqa: ANN401 - an int or a float, as the caller has seen
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


_QUICK_PARTS_MAX: Final = MAX_PAYLOAD_BYTES
"""Parts of a value that the quick pass looks at: more than any payload within its bound has, for each takes a byte."""


def numbers_are_safe(root: JsonValue) -> bool:
    """Say whether no number of a value is beyond 2^53-1 in magnitude; a quick pass without places.

    Every double of that size is integral, so the one comparison finds unsafe integers however they were spelled. NaN
    fails it too.

    Args:
        root: any Python value; one made by hand may contain itself, and this pass ends all the same.

    Returns:
        True if all its numbers are safe; False if one is not, or if the value has more parts than this pass looks at,
        so that only `walk`, which bounds the depth, can tell.

    Spec: Sink guide: refusing a validation error
    """
    pending = [root]
    for value in pending:  # The list grows while it is read: it is the queue of what is still to see.
        kind = type(value)
        if kind is str or kind is bool or value is None:
            continue
        if kind is dict:
            pending.extend(value.values())
        elif kind is list:
            pending.extend(value)
        elif is_safe_number(value):
            continue
        else:
            return False
        if len(pending) > _QUICK_PARTS_MAX:
            return False
    return True


def is_safe_number(value: object) -> bool:
    """Say whether a value is a number, not a boolean, of at most 2^53-1 in magnitude.

    Spec: Sink guide: refusing a validation error
    """
    return (type(value) is int or type(value) is float) and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER


def copy_value(root: JsonValue) -> JsonValue:
    """Copy a JSON value, so that its owner's later changes do not reach the copy.

    Args:
        root: a JSON value that `walk` found no fault in.

    Returns:
        A value equal to it that shares no container with it.

    Spec: The envelope
    """
    holder: list[JsonValue] = [root]
    stack: list[Any] = [holder]
    while stack:
        container = stack.pop()
        for key, value in container.items() if type(container) is dict else enumerate(container):
            if type(value) is dict or type(value) is list:
                # Only the value of a present key changes, which a running iteration allows.
                container[key] = value.copy()
                stack.append(container[key])
    return holder[0]
