"""The recorder tells truly what a command did, within the protocol's bounds. Real processes throughout."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ethogram import MAX_EXCERPT_SCALARS, MAX_TEXT_SCALARS
from relay.exit_codes import ExitCode
from relay.record import kafka
from relay.record.record_command import RecordOptions
from relay.record.record_command import record as run_record
from tests.unit.record.recorder import PYTHON, RECORD, TIMEOUT_S, events_of, record, record_signalled

MEMORY_BYTES_MAX = 200 << 20
WHOLE = [
    "run.started",
    "agent.started",
    "agent.tool_use",
    "agent.text",
    "agent.tool_result",
    "agent.completed",
    "run.finished",
]


def test_a_command_that_succeeds_is_a_completed_session(tmp_path: Path) -> None:
    """Every event of a session is there, in order, and the call's input and result share one toolUseId."""
    argv = [*PYTHON, "print('hello')"]
    recorded = record(tmp_path, argv, "--actor", "ada", "--repository", "r", "--work-order", "w")
    assert recorded.exit_code == 0
    assert recorded.types == WHOLE
    started = recorded.only("run.started").payload
    assert (started["kind"], started["actor"], started["repository"], started["workOrder"]) == (
        "session",
        "ada",
        "r",
        "w",
    )
    assert started["harness"].startswith("ethogram-relay record ")
    use, result = recorded.only("agent.tool_use").payload, recorded.only("agent.tool_result").payload
    assert json.loads(use["inputExcerpt"]) == argv
    assert use["toolUseId"] == result["toolUseId"] == recorded.only("agent.text").payload["parentToolUseId"]
    assert result == {"tool": "command", "toolUseId": use["toolUseId"], "isError": False, "resultExcerpt": "hello\n"}
    finished = recorded.only("run.finished").payload
    assert finished["outcome"] == "completed"
    assert "reason" not in finished
    assert finished["durationMs"] >= recorded.only("agent.completed").payload["durationMs"] >= 0


def test_what_the_command_prints_still_reaches_the_user(tmp_path: Path) -> None:
    """Both streams are passed on as they are, each to its own."""
    recorded = record(tmp_path, [*PYTHON, "import sys; print('out'); print('err', file=sys.stderr)"])
    assert (recorded.stdout, recorded.stderr) == (b"out\n", b"err\n")
    assert sorted(recorded.only("agent.text").payload["text"].split()) == ["err", "out"]


def test_a_command_that_fails_says_its_exit_code(tmp_path: Path) -> None:
    """Failure is the run's outcome, the result's isError and the recorder's own exit code."""
    recorded = record(tmp_path, [*PYTHON, "raise SystemExit(3)"])
    assert recorded.exit_code == 3
    finished = recorded.only("run.finished").payload
    assert (finished["outcome"], finished["reason"]) == ("failed", "exit code 3")
    assert recorded.only("agent.tool_result").payload["isError"] is True
    assert "agent.text" not in recorded.types


def test_a_command_that_a_signal_ends_names_it(tmp_path: Path) -> None:
    """A signal that came from elsewhere is a failure that names the signal."""
    recorded = record(tmp_path, [*PYTHON, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
    assert recorded.exit_code == 128 + signal.SIGKILL
    finished = recorded.only("run.finished").payload
    assert (finished["outcome"], finished["reason"]) == ("failed", "ended by signal SIGKILL (9)")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_recorder_interrupts_the_command(tmp_path: Path, number: signal.Signals) -> None:
    """The signal is passed on, and the run is interrupted, however the command takes it."""
    script = "import time; print('ready', flush=True); time.sleep(60)"
    recorded = record_signalled(tmp_path, [*PYTHON, script], number)
    finished = recorded.only("run.finished").payload
    assert (finished["outcome"], finished["reason"]) == ("interrupted", f"interrupted by {number.name} ({number})")
    assert recorded.exit_code == 128 + number


def test_a_missing_binary_never_ran(tmp_path: Path) -> None:
    """A run whose process never was has its two lifecycle events alone, and says why on standard error, too."""
    recorded = record(tmp_path, ["a-command-that-is-not-there"])
    assert recorded.exit_code == 127
    assert recorded.types == ["run.started", "run.finished"]
    finished = recorded.only("run.finished").payload
    assert (finished["outcome"], finished["reason"]) == ("unstarted", "missing binary: no such file or directory")
    assert b"could not be started" in recorded.stderr


def test_a_file_that_is_no_program_never_ran(tmp_path: Path) -> None:
    """A spawn failure of another kind says its own reason."""
    (tmp_path / "text").write_text("no program", encoding="utf-8")
    recorded = record(tmp_path, [str(tmp_path / "text")])
    assert recorded.exit_code == 126
    assert recorded.only("run.finished").payload["reason"] == "spawn failure: Permission denied"


def test_output_beyond_the_bounds_is_excerpted_by_scalars(tmp_path: Path) -> None:
    """Excerpts are cut at their bounds, counted in code points, and say so."""
    recorded = record(tmp_path, [*PYTHON, "print('\\U0001f40b\\u00e9' * 100_000, end='')"])
    text, result = recorded.only("agent.text").payload, recorded.only("agent.tool_result").payload
    assert text["text"] == "\U0001f40b\u00e9" * (MAX_TEXT_SCALARS // 2)
    assert result["resultExcerpt"] == "\U0001f40b\u00e9" * (MAX_EXCERPT_SCALARS // 2)
    assert text["truncated"] is result["truncated"] is True
    assert recorded.stdout.decode() == "\U0001f40b\u00e9" * 100_000


def test_output_of_just_the_bound_is_not_truncated(tmp_path: Path) -> None:
    """The flag stands only where something was cut."""
    recorded = record(tmp_path, [*PYTHON, f"print('\\u00e9' * {MAX_TEXT_SCALARS}, end='')"])
    assert len(recorded.only("agent.text").payload["text"]) == MAX_TEXT_SCALARS
    assert "truncated" not in recorded.only("agent.text").payload
    assert recorded.only("agent.tool_result").payload["truncated"] is True


def test_memory_stays_bounded_however_much_is_printed(tmp_path: Path) -> None:
    """A quarter of a gigabyte passes through a recorder that may not hold it."""
    script = "import sys\nfor _ in range(256): sys.stdout.buffer.write(b'x' * 2**20)"
    arguments = [*RECORD, "--to-file", str(tmp_path / "events.jsonl"), "--", *PYTHON, script]
    # A small process in between: a child counts the size of whoever forked it, and this one may be large.
    measure = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([*PYTHON, measure, *arguments], capture_output=True, timeout=TIMEOUT_S, check=True)
    code, largest = map(int, done.stdout.split())
    assert code == 0
    assert largest * (1 if sys.platform == "darwin" else 1024) < MEMORY_BYTES_MAX
    events_of((tmp_path / "events.jsonl").read_bytes())


def test_bytes_that_are_no_utf_8_become_replacement_characters(tmp_path: Path) -> None:
    """Decoding never fails; what is passed on to the user stays as it was."""
    recorded = record(tmp_path, [*PYTHON, "import sys; sys.stdout.buffer.write(b'a\\xff\\xe2\\x82')"])
    assert recorded.only("agent.text").payload["text"] == "a\ufffd\ufffd"
    assert recorded.stdout == b"a\xff\xe2\x82"


def test_a_character_that_arrives_in_two_parts_stays_whole(tmp_path: Path) -> None:
    """Streams are decoded incrementally."""
    script = "import os, time; os.write(1, b'\\xe2\\x82'); time.sleep(0.2); os.write(1, b'\\xac')"
    assert record(tmp_path, [*PYTHON, script]).only("agent.text").payload["text"] == "\u20ac"


def test_a_closed_standard_input_is_no_trouble(tmp_path: Path) -> None:
    """The command finds its input at its end, and the session is as any."""
    script = "import sys; print(repr(sys.stdin.read()))"
    assert record(tmp_path, [*PYTHON, script]).only("agent.text").payload["text"] == "''\n"
    arguments = [*RECORD, "--", *PYTHON, "print('no input')"]
    shell = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *arguments]
    done = subprocess.run(shell, capture_output=True, timeout=TIMEOUT_S, check=True)
    assert [event.type for event in events_of(done.stdout)] == WHOLE


def test_standard_input_reaches_the_command(tmp_path: Path) -> None:
    """The recorder takes nothing of it."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"typed")
    os.close(write_end)
    recorded = record(tmp_path, [*PYTHON, "import sys; print(sys.stdin.read())"], stdin=read_end)
    os.close(read_end)
    assert recorded.only("agent.text").payload["text"] == "typed\n"


def test_a_command_past_its_time_is_ended(tmp_path: Path) -> None:
    """A declared ceiling is enforced, and the outcome is timed-out."""
    recorded = record(tmp_path, [*PYTHON, "import time; time.sleep(60)"], "--timeout", "0.3")
    assert recorded.only("run.started").payload["ceilings"] == {"wallMs": 300}
    finished = recorded.only("run.finished").payload
    assert (finished["outcome"], finished["reason"]) == ("timed-out", "time-out of 0.3 s")
    assert finished["durationMs"] >= 300
    assert recorded.exit_code == 124


def test_a_child_that_holds_the_output_open_does_not_hold_the_run_open(tmp_path: Path) -> None:
    """The run ends soon after its command, whoever still has its streams."""
    script = "import subprocess; subprocess.Popen(['sleep', '20']); print('done')"
    recorded = record(tmp_path, [*PYTHON, script])
    assert recorded.only("run.finished").payload["durationMs"] < 10_000
    assert recorded.only("agent.text").payload["text"] == "done\n"


def test_without_a_destination_standard_output_carries_events_alone() -> None:
    """What the command prints then goes to standard error."""
    done = subprocess.run(
        [*RECORD, "--", *PYTHON, "print('out')"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    assert [event.type for event in events_of(done.stdout)] == WHOLE
    assert done.stderr == b"out\n"


def test_events_are_appended(tmp_path: Path) -> None:
    """A second session goes behind the first one."""
    file = tmp_path / "events.jsonl"
    for _ in range(2):
        arguments = [*RECORD, "--to-file", str(file), "--", *PYTHON, "pass"]
        subprocess.run(arguments, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)
    lines = file.read_bytes().splitlines(keepends=True)
    assert len(lines) == 12
    events_of(b"".join(lines[:6]))
    events_of(b"".join(lines[6:]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], b"expected either"),
        (["--from-file", "f", "--", "true"], b"got both"),
        (["--timeout", "-1", "--", "true"], b"--timeout"),
        (["--actor", "x" * 20_000, "--", "true"], b"--actor"),
        (["--to-file", "/nowhere/at/all", "--", "true"], b"/nowhere/at/all"),
    ],
)
def test_wrong_usage_is_told_and_runs_nothing(options: list[str], said: bytes) -> None:
    """A fault of the command line has its own exit code, and no event is written."""
    done = subprocess.run([*RECORD, *options], capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
    assert done.stdout == b""


def test_an_unreachable_cluster_is_told_before_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing runs unrecorded."""
    monkeypatch.setattr(kafka, "_ANSWER_TIMEOUT_S", 0.2)
    mark = tmp_path / "ran"
    argv = (*PYTHON, f"open({str(mark)!r}, 'w')")
    options = RecordOptions("tests", argv, config=_unreachable(tmp_path))
    assert run_record(options, {}) == ExitCode.STARTUP
    assert "expected a Kafka cluster that answers" in capsys.readouterr().err
    assert not mark.exists()


def _unreachable(folder: Path) -> Path:
    """A relay's configuration whose cluster does not answer, and whose clients keep quiet about it."""
    path = folder / "relay.yaml"
    kafka_section = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}
    tree = {"relay": {"unified_topic": "u"}, "sources": [{"topic": "tests"}], "kafka": kafka_section}
    path.write_text(json.dumps(tree), encoding="utf-8")  # JSON is YAML, too
    return path
