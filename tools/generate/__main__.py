"""`python -m tools.generate [--check]`: write the generated files, or say which are stale."""

import argparse
import sys
from pathlib import Path

from tools.generate.files import generated_files

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Write every generated file that is not as it should be.

    Returns:
        0; with `--check`, 1 where a file is stale and nothing is written.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file is stale")
    check = parser.parse_args().check
    stale = [(path, text) for path, text in generated_files().items() if _read(ROOT / path) != text]
    for path, text in stale:
        sys.stdout.write(f"{path}: {'stale' if check else 'written'}\n")
        if not check:
            (ROOT / path).write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
