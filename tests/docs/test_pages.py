"""Every page's Python is run, top to bottom, in an empty folder, and prints what the page says it prints."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import code_blocks

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("ethogram/*.md")]
    if list(code_blocks(page))
)

# Each block stands at its own line, so that a traceback names the page's line; a mark parts what the blocks print.
_PROGRAM = """
import sys
page, mark = sys.argv[1:]
namespace = {"__name__": "__main__"}
for line, code in eval(sys.stdin.read()):
    exec(compile("\\n" * (line - 1) + code, page, "exec"), namespace)
    print(mark, flush=True)
"""
_MARK = "-- end of block --"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    """A page's blocks run one after another in one interpreter, as a reader would type them."""
    blocks = list(code_blocks(page))
    command = [sys.executable, "-W", "error", "-c", _PROGRAM, page.name, _MARK]
    said = repr([(block.line, block.code) for block in blocks])
    done = subprocess.run(command, cwd=tmp_path, input=said, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{_MARK}\n")[:-1]
    for block, output in zip(blocks, printed, strict=True):
        assert output == (block.printed or ""), f"{page.name}:{block.line}: prints another text than the page says"


def test_the_guide_is_among_them() -> None:
    """The pages that promise running code are found."""
    assert {"guide.md", "files.md", "reading.md"} <= {page.name for page in PAGES}
