"""Arguments and exit codes, as far as they need no broker."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from relay import __version__, service
from relay.app import RelayApp
from relay.cli import main
from relay.errors import Fatal, Fenced, RelayError, StartUpError
from relay.exit_codes import ExitCode
from relay.service import StopSignal, serve

CONFIG = (
    "relay: {unified_topic: u, instance_id: i}\nsources: [{topic: a}]\n"
    "kafka: {bootstrap.servers: '127.0.0.1:1'}\nhttp: {port: 0}\n"
)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave signals and log as they were."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    structlog.reset_defaults()


def config_file(tmp_path: Path, text: str = CONFIG) -> Path:
    """A configuration file."""
    path = tmp_path / "relay.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """The log's lines, without their times."""
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [{name: value for name, value in line.items() if name != "ts"} for line in lines]


def test_exit_codes_do_not_change() -> None:
    """Each exit code has one meaning for ever: scripts rely on the numbers."""
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "FOUND": 1,
        "USAGE": 2,
        "CONFIGURATION": 3,
        "STARTUP": 4,
        "FENCED": 5,
        "FATAL": 6,
        "DRAIN_TIMEOUT": 7,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["run"],
        ["check"],
        ["check", "--validation", "odd", "f"],
        ["topics"],
        ["run", "--log-level", "x"],
    ],
)
def test_a_command_line_that_is_not_understood_is_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Anything that is no command ends with exit code 2 and says what is wanted on standard error."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: ethogram-relay" in capsys.readouterr().err


def test_help_and_version_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` lists the commands and `--version` the version, both with exit code 0."""
    for flag, text in (("--help", "check"), ("--version", f"ethogram-relay {__version__}")):
        with pytest.raises(SystemExit) as caught:
            main([flag])
        assert caught.value.code == 0
        assert text in capsys.readouterr().out


def test_created_sources_need_a_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`topics create --sources` without a partition count is a usage error."""
    assert main(["topics", "create", "--config", str(config_file(tmp_path)), "--sources"]) == ExitCode.USAGE
    assert "expected --partitions N" in capsys.readouterr().err


def test_configuration_faults_are_all_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` with a faulty configuration tells every fault, a line each, and ends with exit code 3."""
    path = config_file(tmp_path, CONFIG.replace("unified_topic", "unified").replace("127.0.0.1:1", ""))
    assert main(["run", "--config", str(path)]) == 3
    lines = told(capsys)
    assert {line["event"] for line in lines} == {"config.refused"}
    assert len(lines) == 3


@pytest.mark.parametrize("command", [["topics", "check"], ["topics", "create"]])
def test_topic_commands_tell_configuration_faults(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The topics commands end with exit code 3 on a faulty configuration, and print every fault."""
    path = config_file(tmp_path, "relay: []\n")
    assert main([*command, "--config", str(path)]) == 3
    assert capsys.readouterr().out.splitlines() == [
        "fault: relay: expected a mapping, got a list",
        "fault: sources: expected a value, got nothing",
        "fault: kafka: expected a value, got nothing",
    ]


def test_the_log_level_is_passed_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--log-level` reaches the log."""
    path = config_file(tmp_path, "[]")
    assert main(["run", "--config", str(path), "--log-level", "error"]) == 3
    assert len(told(capsys)) == 1


@pytest.mark.parametrize(
    ("failure", "code", "event"),
    [
        (StartUpError(["one", "two"]), ExitCode.STARTUP, "topics.refused"),
        (Fenced("why"), ExitCode.FENCED, "relay.fenced"),
        (Fatal("why"), ExitCode.FATAL, "relay.failed"),
    ],
)
def test_each_way_to_fail_has_its_exit_code(
    failure: RelayError,
    code: ExitCode,
    event: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A start-up fault, a fence and a fatal error end with codes of their own, and each reason is told."""

    def fail(_app: RelayApp) -> ExitCode:
        raise failure

    monkeypatch.setattr(RelayApp, "run", fail)
    assert serve(config_file(tmp_path), {}, "info") == code
    lines = told(capsys)
    assert lines[0]["event"] == "relay.started"
    assert {line["event"] for line in lines[1:]} == {event}
    assert len(lines) == 3 if isinstance(failure, StartUpError) else 2


def test_a_clean_end_passes_its_code_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the relay returns is the exit code; its probes' port is free again."""
    monkeypatch.setattr(RelayApp, "run", lambda _app: ExitCode.DRAIN_TIMEOUT)
    assert serve(config_file(tmp_path), {"RELAY_HTTP_PORT": "0"}, "info") == ExitCode.DRAIN_TIMEOUT


def test_a_port_in_use_is_a_configuration_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A telemetry address that cannot be listened on ends with exit code 3."""
    monkeypatch.setattr(service, "RelayApp", None)
    assert serve(config_file(tmp_path), {"RELAY_HTTP_HOST": "192.0.2.1"}, "info") == ExitCode.CONFIGURATION
    assert told(capsys)[0]["event"] == "config.refused"


def test_the_first_signal_asks_and_the_second_ends() -> None:
    """SIGTERM and SIGINT ask for a stop; the same one again has its default effect."""
    stop = StopSignal()
    stop.install()
    asked = [stop()]
    signal.raise_signal(signal.SIGINT)
    asked.append(stop())
    assert asked == [False, True]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stop.install()
    with pytest.MonkeyPatch.context() as patch:
        raised: list[int] = []
        patch.setattr(signal, "raise_signal", raised.append)
        handler = signal.getsignal(signal.SIGINT)
        assert callable(handler)
        handler(signal.SIGINT, None)
        assert raised == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


@pytest.mark.parametrize("given", ["nan", "0", "-1", "inf", "soon"])
def test_durations_are_finite_and_positive(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A duration argument that is no finite number above 0 is a usage error, not a traceback."""
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--seconds", given])
    assert ended.value.code == ExitCode.USAGE
    assert f"expected a number of seconds above 0, got {given}" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    """Output into a closed pipe ends the command quietly, as SIGPIPE would, whatever the locale's encoding."""
    file = tmp_path / "bad.jsonl"
    file.write_text('{"bad ü"\n' * 5000, encoding="utf-8")
    command = [sys.executable, "-m", "relay", "check", str(file)]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"malformed" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
