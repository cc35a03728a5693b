"""Cutting text."""

import pytest

from ethogram import Excerpt, excerpt


@pytest.mark.parametrize(
    ("text", "max_scalars", "expected"),
    [
        ("", 0, Excerpt("", truncated=False)),
        ("a", 0, Excerpt("", truncated=True)),
        ("abc", 3, Excerpt("abc", truncated=False)),
        ("abcd", 3, Excerpt("abc", truncated=True)),
        ("\U0001f600" * 3, 2, Excerpt("\U0001f600" * 2, truncated=True)),
        ("e\u0301x", 1, Excerpt("e", truncated=True)),
        ("a\ud800b", 3, Excerpt("a\ufffdb", truncated=False)),
        ("\udfff\ud800", 1, Excerpt("\ufffd", truncated=True)),
    ],
)
def test_excerpt_counts_scalars(text: str, max_scalars: int, expected: Excerpt) -> None:
    """A bound counts code points; a cut says so, and a lone surrogate is replaced without being a cut."""
    assert excerpt(text, max_scalars) == expected


def test_excerpt_refuses_a_negative_bound() -> None:
    """A negative bound is an error, not an empty text."""
    with pytest.raises(ValueError, match="max_scalars"):
        excerpt("a", -1)
