"""JSON texts rewritten without being read: whitespace taken out, members of an object turned round.

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
