"""Compares a verdict with the one wanted: exactly, but for the texts that no vector fixes.

Spec: The founding decision: two implementations, one corpus
"""

from typing import Any, Final

ANY_TEXT: Final = "$text"
"""Stands in an expectation for a text that no rule words: `{"$text": 4096}` is one of at most 4,096 scalars."""


def agree(expected: Any, got: Any) -> bool:  # noqa: ANN401 - any JSON values
    """Say whether two verdicts are the same: `true` is not `1`, and a `message` is never compared.

    Args:
        expected: the verdict wanted.
        got: the verdict given.

    Returns:
        Whether they agree in every member but those named `message`; `{"$text": n}` agrees with any text of at most n
        scalars.

    Spec: The founding decision: two implementations, one corpus
    """
    if isinstance(expected, dict) and expected.keys() == {ANY_TEXT}:
        return isinstance(got, str) and len(got) <= int(expected[ANY_TEXT])
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, dict) and isinstance(got, dict):
        names = (expected.keys() | got.keys()) - {"message"}
        return all(name in expected and name in got and agree(expected[name], got[name]) for name in names)
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(agree, expected, got))
    return bool(expected == got)


def shorten(value: Any, length: int = 400) -> str:  # noqa: ANN401 - any JSON value
    """Write a verdict on one line of a report, cut where it is long."""
    text = ascii(value)
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"
