"""`python -m tests.conformance.faulty NAME`: a kit that is wrong, or that misbehaves, on standard input and output."""

import itertools
import json
import os
import signal
import sys
import time
from typing import Any

from conformance.adapters import ADAPTERS
from tests.conformance.faulty.wrong import WRONG

HELLO: dict[str, object] = {"protocol": 1, "kit": "faulty", "version": "0", "ops": sorted(ADAPTERS)}


def say(answer: Any) -> None:  # noqa: ANN401 - whatever is to be said
    """Write one line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def misbehave(name: str, request: dict[str, Any], count: int) -> None:  # noqa: C901 - a table of misdeeds
    """Answer a case as a kit of this name does."""
    verdict = {"id": request["id"], "verdict": ADAPTERS[request["op"]](request["input"])}
    match name:
        case "crashes" if count % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits" if count % 2:
            raise SystemExit(3)
        case "hangs":
            time.sleep(3600)
        case "rambles":
            sys.stdout.write("thinking about it\n")
        case "answers-twice":
            say(verdict)
        case "wrong-id":
            verdict["id"] = "another"
        case "no-verdict":
            del verdict["verdict"]
        case "array":
            say([1])
            return
        case "gives-up":
            verdict = {"id": request["id"], "error": "KeyError escaped"}
        case "endless-line":
            for _ in itertools.count():
                sys.stdout.write("x" * 65_536)
    say(verdict)


def main() -> None:
    """Speak the protocol, wrongly."""
    name = sys.argv[1]
    if name == "ends-at-once":
        raise SystemExit(7)
    for count, line in enumerate(sys.stdin):
        request = json.loads(line)
        if request["op"] == "hello":
            instead: dict[str, dict[str, object]] = {
                "of-the-future": {"protocol": 2},
                "nameless": {"kit": None},
                "half": {"ops": ["excerpt"]},
            }
            say({**HELLO, **instead.get(name, {})})
        elif name in WRONG and WRONG[name][0] == request["op"]:
            say({"id": request["id"], "verdict": WRONG[name][1](request["input"])})
        else:
            misbehave(name, request, count)


if __name__ == "__main__":
    main()
