"""`check`: files judged as the relay would, without a broker."""

import base64
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import ethogram
from conformance.vectors import read_vectors
from relay.check import check_files
from relay.cli import main
from relay.exit_codes import ExitCode
from tests.unit.relay.samples import event_bytes

VECTORS = [Path(__file__).parents[3] / "conformance" / "handwritten" / "sink.jsonl"]
if "ETHOGRAM_TEST_DATA" in os.environ:
    VECTORS.append(Path(os.environ["ETHOGRAM_TEST_DATA"]) / "vectors" / "ethogram" / "sink.jsonl")

FINISH: dict[str, Any] = {"event_type": "run.finished", "payload": {"outcome": "completed", "durationMs": 1}}


def check(*files: Path | str, enforce: bool = True, advance: bool = False) -> tuple[ExitCode, list[str]]:
    """Exit code and output of a check."""
    out = io.StringIO()
    code = check_files([str(file) for file in files], out, enforce=enforce, advance=advance)
    return code, out.getvalue().removesuffix("\n").split("\n")


def write(path: Path, *lines: bytes) -> Path:
    """A file of lines."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_good_files_are_ok(tmp_path: Path) -> None:
    """Gapless runs end in exit code 0 and two lines of summary."""
    path = write(tmp_path / "f", event_bytes(), event_bytes(seq=2, **FINISH), b"", event_bytes("q"))
    assert check(path) == (
        ExitCode.OK,
        [
            "check: judged 3, forwarded 3, refused 0 (malformed 0, over_bound 0, finished 0, duplicate 0, gap 0)",
            "check: 2 runs, 1 of them open",
        ],
    )


def test_a_refusal_is_the_payload_that_the_relay_would_publish(tmp_path: Path) -> None:
    """Each refusal is one JSON object with file, line and the `capture.refused` payload; the exit code is 1."""
    path = write(tmp_path / "ü", event_bytes(), event_bytes(seq=3), b"{", event_bytes(seq=1))
    code, lines = check(path)
    assert code == ExitCode.FOUND
    refused = [json.loads(line) for line in lines[:-2]]
    assert [(entry["file"], entry["line"]) for entry in refused] == [(str(path), 2), (str(path), 3), (str(path), 4)]
    assert refused[0]["refused"] == {"cause": "gap", "sourceRunId": "r", "sourceSeq": 3, "sourceType": "x.seen"}
    assert refused[1]["refused"]["sourceRunId"] == "unattributed:check:0:3"
    assert lines[-2] == (
        "check: judged 4, forwarded 1, refused 3 (malformed 1, over_bound 0, finished 0, duplicate 1, gap 1)"
    )
    for entry in refused:
        ethogram.validate("capture.refused", entry["refused"])


def test_a_file_holds_no_content_back_from_its_lines(tmp_path: Path) -> None:
    """The report of a refusal holds no content of the event."""
    path = write(tmp_path / "f", event_bytes(seq="hunter2"), event_bytes(payload=["hunter2"]) + b"x")  # type: ignore[arg-type]  # wrong on purpose
    assert "hunter2" not in "\n".join(check(path)[1])


def test_runs_go_on_over_files(tmp_path: Path) -> None:
    """Several files are one source, read one after the other."""
    first, second = write(tmp_path / "1", event_bytes()), write(tmp_path / "2", event_bytes(seq=2))
    assert check(first, second)[0] == ExitCode.OK
    assert check(second, first)[0] == ExitCode.FOUND


def test_line_ends_of_other_systems_are_taken(tmp_path: Path) -> None:
    """A carriage return before the line end is no part of an event, nor an event; a last line needs no end."""
    path = tmp_path / "f"
    path.write_bytes(event_bytes() + b"\r\n\r\n" + event_bytes(seq=2))
    assert check(path)[0] == ExitCode.OK


def test_invalid_events_can_be_let_pass(tmp_path: Path) -> None:
    """With `--validation report` invalid events pass and are counted; with `--after-refusal advance` runs go on."""
    path = write(
        tmp_path / "f",
        event_bytes(event_type="agent.warning", payload={"message": "m" * 4097}),
        event_bytes(seq=2),
    )
    assert check(path)[1][-2] == (
        "check: judged 2, forwarded 0, refused 2 (malformed 0, over_bound 1, finished 0, duplicate 0, gap 1)"
    )
    code, lines = check(path, enforce=False)
    assert code == ExitCode.OK
    assert lines[0].endswith("gap 0), invalid but forwarded 1")
    assert check(path, advance=True)[1][-2] == (
        "check: judged 2, forwarded 1, refused 1 (malformed 0, over_bound 1, finished 0, duplicate 0, gap 0)"
    )


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`-` reads standard input, through the command line as a user calls it."""

    class Stdin:
        buffer = io.BytesIO(event_bytes() + b"\n" + event_bytes(seq=2) + b"\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert main(["check", "-"]) == 0
    assert "check: judged 2, forwarded 2, refused 0" in capsys.readouterr().out


def test_the_command_line_passes_its_options_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The options of the command are those of a source, and the exit code is that of the check."""
    path = write(tmp_path / "f", event_bytes(event_type="agent.warning", payload={"message": "m" * 4097}))
    assert main(["check", str(path)]) == 1
    assert main(["check", "--validation", "report", str(path)]) == 0
    assert main(["check", "--after-refusal", "advance", str(path)]) == 1
    assert "1 runs, 1 of them open" in capsys.readouterr().out


@pytest.mark.parametrize("run_id", ["", "\0", "ethogram-relay/i/1", "unattributed:a:0:1", "😀"])
def test_run_ids_of_any_kind_are_taken(run_id: str, tmp_path: Path) -> None:
    """A file may hold any run, a relay's own included: nothing is reserved without a relay."""
    assert check(write(tmp_path / "f", event_bytes(run_id)))[0] == ExitCode.OK


def test_unreadable_files_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be read ends the check with exit code 2 and is named on standard error."""
    for path in (tmp_path / "missing", tmp_path):
        assert check(path)[0] == ExitCode.USAGE
        assert capsys.readouterr().err.startswith(f"{path}: expected a readable file, got: ")


def judged(path: Path) -> list[str]:
    """The outcome of each line of a file, `forwarded` or its cause; the kit's sink does not validate, nor does this."""
    _code, lines = check(path, enforce=False)
    causes = {entry["line"]: entry["refused"]["cause"] for entry in map(json.loads, lines[:-2])}
    return [
        causes.get(number, "forwarded") for number, _line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1)
    ]


def wanted(outcome: dict[str, Any]) -> str:
    """The vector's outcome in this command's words."""
    if outcome.get("accepted"):
        return "forwarded"
    if outcome["error"] == "SequenceError":
        return "gap" if outcome["received"] > outcome["expected"] else "duplicate"
    return "finished" if outcome["error"] == "RunClosedError" else "malformed"


@pytest.mark.parametrize("path", VECTORS, ids=["handwritten", "shared"][: len(VECTORS)])
def test_order_agrees_with_the_vectors(path: Path, tmp_path: Path) -> None:
    """On every series of stamped events the check gives the verdicts that the vectors give."""
    compared = 0
    for vector in read_vectors(path):
        appends, outcomes = vector.input["appends"], vector.expect["outcomes"]
        # A draft is stamped by the sink: where it was accepted, its event is what a producer would have sent.
        lines, verdicts = [], []
        for append, outcome in zip(appends, outcomes, strict=True):
            if "event" in append:
                lines.append(json.dumps(append["event"], ensure_ascii=False).encode("utf-8", "surrogatepass"))
                verdicts.append(wanted(outcome))
            elif outcome.get("accepted"):
                lines.append(outcome["canonical"].encode())
                verdicts.append("forwarded")
        if lines:
            assert judged(write(tmp_path / "f", *lines)) == verdicts, vector.id
            compared += len(lines)
    assert compared >= 5


@pytest.mark.skipif("ETHOGRAM_TEST_DATA" not in os.environ, reason="the shared vectors are not here")
def test_parsing_agrees_with_the_vectors(tmp_path: Path) -> None:
    """A document that the vectors refuse is malformed in the check; one that they accept is held to its order."""
    path = Path(os.environ["ETHOGRAM_TEST_DATA"]) / "vectors" / "ethogram" / "parse.jsonl"
    for vector in read_vectors(path):
        raw = vector.input.get("raw")
        document = base64.b64decode(vector.input["base64"]) if raw is None else raw.encode()
        if b"\n" in document or not document.rstrip(b"\r"):
            continue
        (verdict,) = judged(write(tmp_path / "f", document.replace(b"\r", b" ")))
        if vector.expect["accept"]:
            first = ethogram.parse_event(document).seq == 1
            assert verdict == ("forwarded" if first else "gap"), vector.id
        else:
            assert verdict == "malformed", vector.id
