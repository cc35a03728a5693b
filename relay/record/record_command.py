"""`ethogram-relay record`: a command as a run, or a file's events, written to where events go.

Where they go: `--to-file`, else the topic of `--source` on the cluster that `--bootstrap-servers` or `--config` names,
else standard output; the command's own output then goes to standard error as a whole, so that a pipe carries events
and nothing else. The exit code is the command's own, as a shell would say it; a fault of the recorder's is one of
`relay.exit_codes.ExitCode` and is told on standard error.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from ethogram import MAX_TEXT_SCALARS, excerpt
from relay.config import load_config
from relay.errors import ConfigError, RelayError, StartUpError
from relay.exit_codes import ExitCode
from relay.record.destinations import Lines
from relay.record.from_file import Line, read_lines
from relay.record.interruption import Interruption
from relay.record.session import Destination, Session, SessionSettings, user_name


class _Closable(Destination, Protocol):
    """A destination of this command's own."""

    def close(self) -> None:
        """Wait until everything is written, and let go. Raises `NotWritten`."""
        ...


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What the command line asks for.

    Attributes:
        source: The source: its topic, where events go to Kafka.
        argv: The command and its arguments; empty with `from_file`.
        from_file: The file of stamped events, `-` for standard input.
        raw: Send lines whose envelope cannot be read, too.
        to_file: Where to append JSON Lines.
        bootstrap_servers: The cluster to write to.
        config: The configuration whose cluster to write to.
        actor: Who the session runs for; the user's name by default.
        repository: What it works on.
        work_order: What it was asked for.
        timeout_s: The longest it may run.
    """

    source: str
    argv: Sequence[str] = ()
    from_file: str | None = None
    raw: bool = False
    to_file: Path | None = None
    bootstrap_servers: str | None = None
    config: Path | None = None
    actor: str | None = None
    repository: str | None = None
    work_order: str | None = None
    timeout_s: float | None = None


def record(options: RecordOptions, environment: Mapping[str, str]) -> int:
    """Record.

    Args:
        options: What is asked for.
        environment: The process environment, which lies over a configuration file.

    Returns:
        The exit code.
    """
    fault = _usage_fault(options)
    if fault is not None:
        return _said(fault, ExitCode.USAGE)
    try:
        destination = _destination(options, environment)
        code = _record_lines(options, destination) if options.from_file else _record_command(options, destination)
        destination.close()
    except OSError as error:
        return _said(f"{error.filename}: {error.strerror}", ExitCode.USAGE)
    except RelayError as error:
        return _said(str(error), _code_of(error))
    return code


def _code_of(error: RelayError) -> ExitCode:
    match error:
        case ConfigError():
            return ExitCode.CONFIGURATION
        case StartUpError():
            return ExitCode.STARTUP
        case _:
            return ExitCode.FATAL


def _usage_fault(options: RecordOptions) -> str | None:
    if bool(options.argv) == bool(options.from_file):
        return "expected either `-- COMMAND ARGS...` or --from-file, got " + ("both" if options.argv else "neither")
    if options.timeout_s is not None and options.timeout_s <= 0:
        return "--timeout: expected more than 0 seconds"
    for name in ("actor", "repository", "work_order"):
        if len(getattr(options, name) or "") > MAX_TEXT_SCALARS:
            return f"--{name.replace('_', '-')}: expected at most {MAX_TEXT_SCALARS} characters"
    return None


def _destination(options: RecordOptions, environment: Mapping[str, str]) -> _Closable:
    if options.to_file is not None:
        return Lines.appended(options.to_file)
    if options.bootstrap_servers is None and options.config is None:
        return Lines(sys.stdout.buffer)
    from relay.record.kafka import Topic  # noqa: PLC0415 - the Kafka client is slow to load, and not needed above

    if options.config is not None:
        return Topic(load_config(options.config, environment).kafka, options.source)
    return Topic({"bootstrap.servers": str(options.bootstrap_servers)}, options.source)


def _record_command(options: RecordOptions, destination: _Closable) -> int:
    interruption = Interruption(from_terminal=sys.stdin is not None and sys.stdin.isatty())
    interruption.install()
    out, err = sys.stdout.buffer, sys.stderr.buffer
    to_stdout = options.to_file is None and options.bootstrap_servers is None and options.config is None
    tee: dict[int, BinaryIO] = {1: err if to_stdout else out, 2: err}
    settings = SessionSettings(
        actor=_text(options.actor) or _text(user_name()) or "unknown",
        repository=_text(options.repository),
        work_order=_text(options.work_order),
        timeout_s=options.timeout_s,
        tee=tee,
        interruption=interruption,
    )
    ending = Session(settings, destination).run(options.argv)
    if ending.outcome == "unstarted":
        _say(f"the command could not be started: {ending.reason}")
    return ending.exit_code


def _text(given: str | None) -> str | None:
    """An argument as the wire can hold it: bytes of it that are not UTF-8 become U+FFFD."""
    return None if given is None else excerpt(given, MAX_TEXT_SCALARS).text


def _record_lines(options: RecordOptions, destination: _Closable) -> int:
    name = options.from_file or "-"
    sent_count = 0
    with _opened(name) as lines:
        for line in read_lines(lines):
            if line.fault is not None and not options.raw:
                return _unreadable(name, line, sent_count)
            destination.write(line.key, line.value)
            sent_count += 1
    return ExitCode.OK


def _opened(name: str) -> BinaryIO:
    return sys.stdin.buffer if name == "-" else Path(name).open("rb")


def _unreadable(name: str, line: Line, sent_count: int) -> int:
    said = f"{name}:{line.number}: {line.fault}; the {sent_count} lines before it were written (--raw writes it, too)"
    return _said(said, ExitCode.FOUND)


def _said(fault: str, code: ExitCode) -> ExitCode:
    _say(fault)
    return code


def _say(fault: str) -> None:
    sys.stderr.writelines(f"record: {line}\n" for line in fault.splitlines())
