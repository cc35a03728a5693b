"""Cutting text at a scalar boundary, and saying so.

It must never elide silently: the flag travels with the text.

Spec: On narration
"""

from typing import Final, NamedTuple

_REPLACE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


class Excerpt(NamedTuple):
    """A text within its bound.

    Attributes:
        text: at most the asked number of Unicode scalar values.
        truncated: whether anything was cut off.
    """

    text: str
    truncated: bool


def excerpt(text: str, max_scalars: int) -> Excerpt:
    """Keep the first scalars of a text.

    A cut may divide a grapheme cluster, never a scalar. A lone surrogate, which is no scalar and has no UTF-8, becomes
    U+FFFD, one for one, without counting as a cut.

    Args:
        text: any text; not changed.
        max_scalars: Unicode scalar values to keep, 0 or more.

    Returns:
        The kept text and whether it was cut.

    Raises:
        ValueError: `max_scalars` is negative.

    Spec: On narration
    """
    if max_scalars < 0:
        raise ValueError(f"max_scalars: expected 0 or more, got {max_scalars}")
    truncated = len(text) > max_scalars
    kept = text[:max_scalars] if truncated else text
    if not kept.isascii():
        kept = kept.translate(_REPLACE_SURROGATES)
    return Excerpt(kept, truncated)
