"""`python -m conformance.sdk`: this repository's kit behind the line protocol, as any other kit would be.

Spec: The founding decision: two implementations, one corpus
"""

import json
import sys
from importlib.metadata import version
from typing import Any, BinaryIO

from conformance.adapters import ADAPTERS
from conformance.line_protocol import PROTOCOL


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line with a line, until there are no more.

    Args:
        requests: lines from the harness.
        answers: takes a line for each.

    Spec: The founding decision: two implementations, one corpus
    """
    for line in requests:
        request = json.loads(line)
        answer = _introduce() if request["op"] == "hello" else _judge(request)
        answers.write(json.dumps(answer, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        answers.flush()


def _introduce() -> dict[str, Any]:
    return {"protocol": PROTOCOL, "kit": "ethogram", "version": version("ethogram"), "ops": sorted(ADAPTERS)}


def _judge(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"id": request["id"], "verdict": ADAPTERS[request["op"]](request["input"])}
    except Exception as error:  # noqa: BLE001 - what escapes the kit fails this case, and the next is to be answered
        return {"id": request["id"], "error": f"{type(error).__name__} escaped: {error}"}


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
