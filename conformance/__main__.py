"""`python -m conformance [PATH…]`: arguments and exit code; nothing else.

Spec: The founding decision: two implementations, one corpus
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from conformance.foreign import ForeignKit
from conformance.kits import Kit, KitFault, OwnKit
from conformance.runner import Options, run

_HERE: Final = Path(__file__).parent


def main() -> int:
    """Replay the cases named on the command line.

    Returns:
        0 where every case passed; 1 where one failed, there was none, or the kit did not start. Usage errors exit with
        2.

    Spec: The founding decision: two implementations, one corpus
    """
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Replay conformance cases.")
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="a vector file, a folder of *.jsonl, or the captured corpus; default: all that stands beside this program",
    )
    parser.add_argument("--sdk", metavar="COMMAND", help="ask the kit behind this command, by the line protocol")
    parser.add_argument("--timeout", type=_seconds, default=10.0, metavar="SECONDS", help="for each answer; default 10")
    parser.add_argument("--ops", type=_names, default=(), metavar="A,B", help="only these operations")
    parser.add_argument("--fail-fast", action="store_true", help="end at the first failure")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each failure, and one for the count")
    given = parser.parse_args()
    paths = given.paths or [_HERE / "v1", _HERE / "handwritten"]
    try:
        kit: Kit = OwnKit() if given.sdk is None else ForeignKit(given.sdk, given.timeout)
    except KitFault as fault:
        sys.stdout.write(f"ERROR {fault}\n0 passed, 1 failed\n")
        return 1
    try:
        return run(paths, sys.stdout, kit, Options(given.ops, given.fail_fast, given.json))
    finally:
        kit.close()


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("expected a number above 0, got another")
    return seconds


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("expected names parted by commas, got none")
    return names


if __name__ == "__main__":
    sys.exit(main())
