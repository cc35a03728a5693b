"""Run ids as names of directories: any string in, one safe path component out.

It must never touch a file. The rule is percent-encoding over UTF-8 that leaves `a-z 0-9 - _ .` alone, so upper case and
everything outside ASCII is escaped, and names stay apart on file systems that fold case or normalise Unicode. A
lower-case UUID is its own name.

A name of more than `NAME_BYTES_MAX` is shortened: its beginning, `%~`, and 128 bits of the run id's SHA-256. Such a
name cannot be read back; the events in the file say whose it is.

Spec: The envelope
"""

import hashlib
import re
from typing import Final
from urllib.parse import unquote_to_bytes

from ethogram.envelope import is_text
from ethogram.errors import ParseError

NAME_BYTES_MAX: Final = 128
"""Bytes of a directory's name; file systems take 255, some that encrypt names 143."""

_EMPTY_NAME: Final = "%"
_SHORTENED_MARK: Final = "%~"
_DIGEST_CHARACTERS: Final = 32
_PREFIX_BYTES_MAX: Final = NAME_BYTES_MAX - len(_SHORTENED_MARK) - _DIGEST_CHARACTERS

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.")
_ESCAPES: Final = tuple(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in range(256))

# Names that Windows keeps for devices, whatever follows their first dot: a copy of the directory has to work there.
_is_device: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.DOTALL).fullmatch
_is_whole: Final = re.compile(r"(?:[a-z0-9_.-]|%[0-9a-f]{2})+").fullmatch
_is_shortened: Final = re.compile(
    rf"(?:[a-z0-9_.-]|%[0-9a-f]{{2}}){{1,{_PREFIX_BYTES_MAX}}}%~[0-9a-f]{{{_DIGEST_CHARACTERS}}}"
).fullmatch


def name_of_run(run_id: str) -> str:
    """Give the directory name of a run.

    Args:
        run_id: any string that UTF-8 can hold, the empty one included.

    Returns:
        One path component of 1 to `NAME_BYTES_MAX` ASCII characters: never `.` or `..`, no separator, no control
        character, no upper case, no dot at either end, no hyphen in front. Different run ids have different names; for
        shortened ones as far as SHA-256 goes.

    Raises:
        ParseError: the run id has a lone surrogate, so that no event can carry it.

    Spec: The envelope
    """
    if not is_text(run_id):
        raise ParseError("runId", f"expected UTF-8 text, got a {type(run_id).__name__}", stage="envelope")
    raw = run_id.encode()
    if not raw:
        return _EMPTY_NAME
    parts = [_ESCAPES[byte] for byte in raw]
    if parts[0] in {".", "-"} or _is_device(run_id):
        parts[0] = f"%{raw[0]:02x}"
    if parts[-1] == ".":
        parts[-1] = "%2e"
    name = "".join(parts)
    if len(name) <= NAME_BYTES_MAX:
        return name
    prefix = name[:_PREFIX_BYTES_MAX]
    # An escape is cut off whole; "%" is nowhere but at an escape's beginning.
    prefix = prefix[: prefix.rindex("%")] if "%" in prefix[-2:] else prefix
    return prefix + _SHORTENED_MARK + hashlib.sha256(raw).hexdigest()[:_DIGEST_CHARACTERS]


def run_id_of(name: str) -> str | None:
    """Give back the run id of a directory name.

    Args:
        name: one path component.

    Returns:
        The run id; None where the name is shortened, or is none that `name_of_run` gives.

    Spec: The envelope
    """
    if name == _EMPTY_NAME:
        return ""
    if not _is_whole(name):
        return None
    try:
        run_id = unquote_to_bytes(name).decode()
    except UnicodeDecodeError:
        return None
    return run_id if name_of_run(run_id) == name else None


def is_run_name(name: str) -> bool:
    """Say whether a path component is a name that `name_of_run` may give, whole or shortened.

    Spec: The envelope
    """
    return _is_shortened(name) is not None or run_id_of(name) is not None
