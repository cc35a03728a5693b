"""The exchanges that the README shows are what our kit answers, and the kit it sketches can be plugged in."""

import json
import re
import shlex
import sys
from pathlib import Path

from conformance.adapters import ADAPTERS
from conformance.child import Child
from conformance.foreign import ForeignKit
from conformance.vectors import Vector

README = Path(__file__).parents[2] / "conformance" / "README.md"


def test_every_exchange_is_real() -> None:
    """Sent to our kit in another process, each line is answered as the page says; each operation is shown."""
    lines = [
        line
        for block in re.findall(r"```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        for line in block.splitlines()
    ]
    child = Child([sys.executable, "-m", "conformance.sdk"], 1_000_000)
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    for asked, answered in pairs:
        assert json.loads(child.exchange(asked.encode() + b"\n", 30.0)) == json.loads(answered), asked
    child.close()
    assert {json.loads(asked)["op"] for asked, _ in pairs} == {"hello", *ADAPTERS}


def test_the_sketch_can_be_plugged_in(tmp_path: Path) -> None:
    """The program on the page, given a kit, introduces itself and answers."""
    (sketch,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "my_kit.py").write_text(
        "from ethogram import ParseError, parse_event as parse, serialise_event as serialise\n"
    )
    lines = [line.removeprefix("   ") for line in sketch.splitlines()]
    (tmp_path / "kit.py").write_text("\n".join(["from base64 import b64decode as base64_bytes", *lines]) + "\n")
    kit = ForeignKit(shlex.join([sys.executable, str(tmp_path / "kit.py")]), 30.0)
    assert kit.hello.ops == ("parse",)
    raw = '{"v":1,"type":"x.y","runId":"r","seq":1,"ts":"t","payload":{"b":1.0,"a":2}}'
    verdict = kit.judge(Vector("here", "a", "parse", {"raw": raw}, {}))
    assert verdict == {"accept": True, "canonical": raw.replace('"b":1.0,"a":2', '"a":2,"b":1')}
    assert kit.judge(Vector("here", "b", "parse", {"base64": "/w=="}, {})) == {"accept": False}
    kit.close()
