"""What a command printed, as far as the excerpts can hold it; the rest is counted and let go.

Memory stays bounded however much is printed.

Spec: On narration
"""

import codecs
from typing import Final

from ethogram import MAX_TEXT_SCALARS

_KEPT_SCALARS_MAX: Final = MAX_TEXT_SCALARS + 1
"""One more than the longest excerpt: that much tells whether the excerpt was cut."""


class PrintedText:
    """The beginning of what several byte streams printed, in the order in which it arrived.

    Each stream is decoded as UTF-8 by itself, so that a character which arrives in two parts stays whole; bytes that
    are not UTF-8 become U+FFFD.

    Attributes:
        byte_count: How many bytes were printed in all.
    """

    def __init__(self) -> None:
        self.byte_count = 0
        self._decoders: dict[int, codecs.IncrementalDecoder] = {}
        self._parts: list[str] = []
        self._scalar_count = 0

    @property
    def text(self) -> str:
        """The first scalars, one more than `agent.text` may hold at most."""
        return "".join(self._parts)

    def feed(self, stream: int, content: bytes) -> None:
        """Take in what one stream printed.

        Args:
            stream: Which stream, by any number of its own.
            content: The bytes; empty at the stream's end.
        """
        self.byte_count += len(content)
        missing = _KEPT_SCALARS_MAX - self._scalar_count
        if missing <= 0:
            return
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        kept = decoder.decode(content, final=not content)[:missing]
        if kept:
            self._parts.append(kept)
            self._scalar_count += len(kept)
