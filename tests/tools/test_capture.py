"""The captured corpus holds what our recorder and relay emit, all of it, as it was emitted."""

import hashlib
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from conformance.json_text import compact
from ethogram import EventDraft, RefusalCause, RunOutcome, parse_event, serialise_event, stamp, validate
from tools.capture.corpus import Capture, CaptureFault, add, landed_variants
from tools.capture.recordings import RECORDINGS, capture
from tools.capture.refused import records
from tools.capture.relaying import _LIFE
from tools.capture.variants import variant_of

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "conformance" / "v1"


def fixtures() -> dict[str, str]:
    """Every fixture's text by its name."""
    events = CORPUS / "events"
    return {
        path.relative_to(events).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(events.rglob("*.json"))
    }


def test_every_declared_variant_has_landed() -> None:
    """What the tool declares is what the corpus holds, and each fixture is of a variant of its own."""
    recorded = {f"{event_type}/{name}" for one in RECORDINGS for event_type, name in one.new.items()}
    relayed = {one.variant for one in records("x/") if one.variant} | {variant for _name, variant, _how, _fits in _LIFE}
    assert recorded | relayed == fixtures().keys()
    assert len(landed_variants(CORPUS)) == len(fixtures())


def test_fixtures_are_as_they_were_emitted() -> None:
    """Without its whitespace each is the wire's bytes, which our kit parses, finds valid, and writes the same."""
    for name, text in fixtures().items():
        wire = compact(text).encode()
        event = parse_event(wire)
        validate(event.type, event.payload)
        assert serialise_event(event) == wire, name
        assert serialise_event(parse_event(text)) == wire, name
        assert name.startswith(f"{event.type}/")


def test_captures_say_where_they_come_from() -> None:
    """Each has a command, versions and a date, and measures the bytes of its events; nothing of a machine is in it."""
    for path in (CORPUS / "captures").glob("*.json"):
        told = json.loads(path.read_bytes())
        assert told["capture"] == path.stem
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", told["date"])
        assert told["command"][0] == "ethogram-relay"
        assert {"ethogram-relay", "python"} <= told["versions"].keys()
        assert told["emitter"] == "recorder" or "kafka" in told["versions"]
        for one in told["events"]:
            wire = compact((CORPUS / "events" / one["fixture"]).read_text(encoding="utf-8")).encode()
            assert (hashlib.sha256(wire).hexdigest(), len(wire)) == (one["wireSha256"], one["wireBytes"])


def test_every_outcome_and_cause_in_the_code_is_captured() -> None:
    """A cause of refusal, and an outcome that the recorder or the relay names, has a fixture."""
    sources = [*(ROOT / "relay/record").glob("*.py"), ROOT / "relay/life.py", ROOT / "relay/own_run.py"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    named = {outcome for outcome in get_args(RunOutcome) if f'"{outcome}"' in code}
    events = [parse_event(text) for text in fixtures().values()]
    captured = {event.payload["outcome"] for event in events if event.type == "run.finished"}
    assert captured == named
    causes = {event.payload["cause"] for event in events if event.type == "capture.refused"}
    assert causes == set(get_args(RefusalCause))


def captured(text: str = "x", name: str = "agent.text/plain") -> Capture:
    """A capture of one event, as a tool would see it."""
    event = stamp(EventDraft("agent.text", {"text": text}), run_id="r", seq=1, ts="t")
    return Capture(f"of-{name.rpartition('/')[2]}", "recorder", ["c"], "h", {}, {name: serialise_event(event)})


def test_what_has_landed_is_passed_over(tmp_path: Path) -> None:
    """A second capture of a variant writes nothing, and changes nothing."""
    assert add(tmp_path, [captured()], "2026-01-01") == ["agent.text/plain"]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert add(tmp_path, [captured("y")], "2026-02-02") == []
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A name that has landed stands for one variant, and a variant has one name."""
    add(tmp_path, [captured()], "2026-01-01")
    with pytest.raises(CaptureFault, match=r"got that of agent\.text/plain"):
        add(tmp_path, [captured(name="agent.text/other")], "2026-01-01")
    with pytest.raises(CaptureFault, match="expected the variant that has landed under this name"):
        add(tmp_path, [captured("")], "2026-01-01")
    other = Capture("of-plain", "recorder", ["c"], "h", {}, captured("", "agent.text/empty").emitted)
    with pytest.raises(CaptureFault, match="expected a new capture, got the name of one that has landed"):
        add(tmp_path, [other], "2026-01-01")


def test_what_is_not_canonical_is_refused(tmp_path: Path) -> None:
    """A process that emits other bytes than the canonical ones has a defect, which does not land."""
    ((name, wire),) = captured().emitted.items()
    spaced = Capture("c", "recorder", ["c"], "h", {}, {name: wire.replace(b":", b": ", 1)})
    with pytest.raises(CaptureFault, match="expected canonical bytes"):
        add(tmp_path, [spaced], "2026-01-01")


def test_a_recording_gives_what_it_declares(tmp_path: Path) -> None:
    """The real recorder is run; every event it emits is of a variant that has landed."""
    recording = next(one for one in RECORDINGS if one.name == "recorder-exit-code")
    seen, lines = capture(recording, tmp_path)
    assert seen.emitted.keys() == {"agent.tool_result/error", "run.finished/failed-exit-code"}
    assert {variant_of(parse_event(line)) for line in lines} <= landed_variants(CORPUS).keys()


def test_a_recording_that_lacks_something_is_told_of(tmp_path: Path) -> None:
    """A declared variant that does not come is a fault of the capture."""
    recording = next(one for one in RECORDINGS if one.name == "recorder-silent")
    wanting = type(recording)("r", ("true",), "h", {"agent.text": "any"})
    with pytest.raises(CaptureFault, match=r"expected agent\.text/any, got no such event"):
        capture(wanting, tmp_path)
