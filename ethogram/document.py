"""What is to be known of a JSON document beyond its value: repeated members, where a fault is, what is left to read.

It knows JSON and must never know an event. It is off the short way: only documents that are not canonical come here.

Spec: The envelope
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import orjson

# In a document that is known to be valid, strings and these marks are all there is to see of its structure.
_TOKENS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]:]')

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def find_repeated_members(raw: bytes, distinct_count: int) -> tuple[str, ...]:
    """Find the member names that a document's outermost object spells more than once.

    Args:
        raw: a valid JSON document whose root is an object.
        distinct_count: how many distinct names that object has.

    Returns:
        The repeated names in document order, decoded, so `v` is one name; mostly empty.

    Spec: The envelope
    """
    names: list[bytes] = []
    depth = 0
    last = b""
    for match in _TOKENS.finditer(raw):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif token != b":":
            last = token
        elif depth == 1:
            names.append(last)
    if len(names) == distinct_count:
        return ()
    return _repeated(orjson.loads(name) for name in names)


def _repeated(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name, count in Counter(names).items() if count > 1)


def locate_fault(raw: bytes, error: orjson.JSONDecodeError) -> str:
    """Say what is wrong with a document and at which byte, without showing any of it.

    Args:
        raw: the document.
        error: why orjson refused it.

    Returns:
        `got …`, with a 0-based byte position where one is known.

    Spec: Sink guide: refusing a validation error
    """
    if raw.startswith(_BYTE_ORDER_MARK):
        return "got a byte order mark"
    try:
        text = raw.decode()
    except UnicodeDecodeError as undecodable:
        return f"got a byte that is not UTF-8 at byte {undecodable.start}"
    # The reader counts characters and describes with fixed phrases, to which it appends its own place.
    position = len(text[: error.pos].encode())
    return f"got a fault at byte {position}: {error.msg.partition(':')[0]}"


def read_loosely(raw: bytes) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read what can be read of a document that was refused, so that a refusal can name its source.

    Args:
        raw: any bytes.

    Returns:
        (members of the outermost object, the names it repeats); both empty where it is no object, or past reading.
        Values inside may be of any kind, and strings may hold lone surrogates.

    Spec: Capture
    """
    text = raw.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
    pairs: list[tuple[str, Any]] = []
    try:
        # Objects inside become lists as well, which is no loss: only strings and integers are asked for.
        root = json.JSONDecoder(strict=False, object_pairs_hook=list).decode(text)
        if isinstance(root, list) and text.lstrip().startswith("{"):
            pairs = root
    except (ValueError, RecursionError):
        pass
    return dict(pairs), _repeated(name for name, _ in pairs)
