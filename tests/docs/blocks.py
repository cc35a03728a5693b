"""The code blocks of a page, and what each is said to print."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class CodeBlock:
    """One block of Python.

    Attributes:
        line: where its code begins on the page, from 1.
        code: what is to be run.
        printed: the block of `text` right below it; None where there is none, and then it prints nothing.
    """

    line: int
    code: str
    printed: str | None


def code_blocks(page: Path) -> Iterator[CodeBlock]:
    """Every block of Python on a page, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    for index, block in enumerate(blocks):
        if block.group(1) != "python":
            continue
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        is_output = (
            following is not None and following.group(1) == "text" and text[block.end() : following.start()].isspace()
        )
        printed = following.group(2) if following is not None and is_output else None
        yield CodeBlock(text.count("\n", 0, block.start()) + 2, block.group(2), printed)
