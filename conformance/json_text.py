"""JSON texts rewritten without being read: whitespace taken out or put in, members of an object turned round.

Every token stays as it is written. That is why expectations made here owe nothing to any implementation, or to what a
JSON library makes of numbers and escapes.

Spec: The founding decision: two implementations, one corpus
"""

import re
from typing import Final

_TOKENS: Final = re.compile(r'\s+|"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def compact(text: str) -> str:
    """Take out the whitespace between the tokens of a JSON text.

    Args:
        text: one JSON document.

    Returns:
        The same tokens, next to one another.

    Spec: The founding decision: two implementations, one corpus
    """
    return "".join(word for word in _TOKENS.findall(text) if not word.isspace())


def indent(text: str) -> str:
    """Put a JSON text on lines, for people to read.

    Args:
        text: one JSON document.

    Returns:
        The same tokens, two spaces a level, a line feed at the end; `compact` gives back the text without whitespace.

    Spec: The founding decision: two implementations, one corpus
    """
    lines: list[str] = [""]
    depth = 0
    words = [word for word in _TOKENS.findall(text) if not word.isspace()]
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        is_closing = word in ("}", "]")
        depth -= is_closing
        if is_closing and before not in ("{", "["):
            lines.append("  " * depth)
        lines[-1] += ": " if word == ":" else word
        if word in ("{", "["):
            depth += 1
        if word == "," or (word in ("{", "[") and after not in ("}", "]")):
            lines.append("  " * depth)
    return "\n".join(lines) + "\n"


def turn_round(text: str) -> str:
    """Write the members of every object in the opposite order.

    Args:
        text: one compact JSON document.

    Returns:
        A document of the same value, in other words; equal to the text only where no object has two members.

    Spec: The founding decision: two implementations, one corpus
    """
    stack: list[tuple[str, list[str]]] = [("", [""])]
    for word in _TOKENS.findall(text):
        if word in "{[":
            stack.append((word, [""]))
        elif word in "}]":
            opening, parts = stack.pop()
            inner = ",".join(reversed(parts) if opening == "{" else parts)
            stack[-1][1][-1] += f"{opening}{inner}{word}"
        elif word == ",":
            stack[-1][1].append("")
        else:
            stack[-1][1][-1] += word
    return stack[0][1][0]
