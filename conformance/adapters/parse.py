"""The operation `parse`: raw text or bytes, refused or accepted with its canonical bytes.

Spec: The envelope
"""

import base64
from typing import Any

import ethogram


def _verdict(source: bytes | str) -> dict[str, Any]:
    try:
        event = ethogram.parse_event(source)
    except ethogram.ParseError:
        return {"accept": False}
    canonical = ethogram.serialise_event(event)
    again = ethogram.serialise_event(ethogram.parse_event(canonical))
    if again != canonical:
        return {"accept": True, "canonical": canonical.decode(), "reparsed": again.decode()}
    return {"accept": True, "canonical": canonical.decode()}


def parse(case: dict[str, Any]) -> dict[str, Any]:
    """Parse a document, as bytes and, where it is text, as `str` too.

    Args:
        case: `raw`, a document as text, or `base64`, bytes.

    Returns:
        `accept`, and `canonical` where it is accepted. Two ways that disagree give both verdicts, which agree with no
        expectation.

    Spec: The envelope
    """
    if "base64" in case:
        return _verdict(base64.b64decode(case["base64"], validate=True))
    raw: str = case["raw"]
    from_text = _verdict(raw)
    # A text with a lone surrogate has no bytes to feed.
    from_bytes = _verdict(raw.encode()) if _has_utf8(raw) else from_text
    return from_text if from_text == from_bytes else {"bytes": from_bytes, "str": from_text}


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
