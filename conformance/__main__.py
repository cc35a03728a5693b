"""`python -m conformance PATH…`: arguments and exit code; nothing else.

Spec: The founding decision: two implementations, one corpus
"""

import argparse
import sys
from pathlib import Path

from conformance.runner import run


def main() -> int:
    """Replay the vector files named on the command line.

    Returns:
        0 where every case passed, 1 where one failed or there was none; usage errors exit with 2.

    Spec: The founding decision: two implementations, one corpus
    """
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Replay conformance vectors.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a vector file, or a folder of *.jsonl")
    return run(parser.parse_args().paths, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
