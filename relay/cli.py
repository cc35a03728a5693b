"""Arguments and exit codes; nothing else. Each command lives in its own module and is loaded when it is asked for."""

import argparse
import io
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from relay import __version__
from relay.exit_codes import ExitCode

_EXIT_BROKEN_PIPE = 128 + 13
"""As shells say that SIGPIPE ended a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The arguments without the program's name; the process's own by default.

    Returns:
        The exit code, one of `relay.exit_codes.ExitCode`.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # what is printed is the wire's text, whatever the locale
    try:
        code = command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough of it. The interpreter's own flush at the end must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_BROKEN_PIPE
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ethogram-relay", description="Many source topics in, one unified topic out, exactly once."
    )
    parser.add_argument("--version", action="version", version=f"ethogram-relay {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    _add_check(commands)
    _add_topics(commands)
    _add_record(commands)
    _add_demo(commands)
    return parser


_Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives its sub-parsers no public name


def _add_run(commands: "_Commands[argparse.ArgumentParser]") -> None:
    run = commands.add_parser("run", help="the service")
    _add_config(run)
    run.add_argument("--log-level", choices=["debug", "info", "warning", "error"], default="info")
    run.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from relay.service import serve  # noqa: PLC0415 - `check` must not wait for the Kafka client to load

    return serve(options.config, os.environ, options.log_level)


def _add_check(commands: "_Commands[argparse.ArgumentParser]") -> None:
    check = commands.add_parser("check", help="judge JSON Lines of stamped events, with no broker")
    check.add_argument("file", nargs="+", help="JSON Lines files, - for standard input")
    check.add_argument("--validation", choices=["enforce", "report"], default="enforce")
    check.add_argument("--after-refusal", choices=["hold", "advance"], default="hold")
    check.set_defaults(command=_check)


def _check(options: argparse.Namespace) -> int:
    from relay.check import check_files  # noqa: PLC0415 - loaded when asked for, as every command

    enforce, advance = options.validation == "enforce", options.after_refusal == "advance"
    return check_files(options.file, sys.stdout, enforce=enforce, advance=advance)


def _add_topics(commands: "_Commands[argparse.ArgumentParser]") -> None:
    topics = commands.add_parser("topics", help="create or check the topics")
    actions = topics.add_subparsers(required=True, metavar="ACTION")
    create = actions.add_parser("create", help="create what is missing of the relay's own topics, then check")
    _add_config(create)
    create.add_argument("--replication-factor", type=int, default=-1, help="default: the cluster's default")
    create.add_argument("--sources", action="store_true", help="create missing source topics, too")
    create.add_argument("--partitions", type=_count, help="of source topics that are created")
    create.set_defaults(command=_topics_create)
    check = actions.add_parser("check", help="hold the topics against what the relay needs")
    _add_config(check)
    check.set_defaults(command=_topics_check)


def _topics_create(options: argparse.Namespace) -> int:
    from relay.topics_command import create_topics  # noqa: PLC0415 - loaded when asked for, as every command

    partitions = options.partitions if options.sources else None
    if options.sources and partitions is None:
        sys.stderr.write("topics create: expected --partitions N with --sources\n")
        return ExitCode.USAGE
    return create_topics(options.config, os.environ, sys.stdout, options.replication_factor, partitions)


def _topics_check(options: argparse.Namespace) -> int:
    from relay.topics_command import check_cluster_topics  # noqa: PLC0415 - loaded when asked for, as every command

    return check_cluster_topics(options.config, os.environ, sys.stdout)


def _add_record(commands: "_Commands[argparse.ArgumentParser]") -> None:
    record = commands.add_parser(
        "record",
        help="run a command as a harness session, or send a file of stamped events",
        usage="%(prog)s --source NAME [options] (-- COMMAND ARGS... | --from-file FILE)",
        epilog="Exits as the command does: 128 and the signal's number, 127 or 126 for one that could not be started, "
        "124 after --timeout. A fault of the recorder's own is told on standard error (2 usage, 3 configuration, 4 the "
        "cluster, 6 events that could not be written). The command is a call of the tool `command`.",
    )
    record.add_argument("--source", required=True, metavar="NAME", help="the source; its topic, where Kafka is named")
    record.add_argument("--from-file", metavar="FILE", help="send this file's lines as they are, - for standard input")
    record.add_argument("--raw", action="store_true", help="with --from-file, send lines that are no events, too")
    where = record.add_mutually_exclusive_group()
    where.add_argument("--to-file", type=Path, metavar="FILE", help="append the events to this file")
    where.add_argument("--bootstrap-servers", metavar="HOST", help="write them to topic NAME of this cluster")
    where.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the same, with the cluster of this configuration; "
        "by default events go to standard output, and what the command prints to standard error",
    )
    record.add_argument("--actor", help="who the session runs for; default: the user's name")
    record.add_argument("--repository", help="what it works on")
    record.add_argument("--work-order", help="what it was asked for")
    record.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="end the command after so long")
    record.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")
    record.set_defaults(command=_record)


def _record(options: argparse.Namespace) -> int:
    from relay.record.record_command import RecordOptions, record  # noqa: PLC0415 - loaded when asked for

    given = {name: value for name, value in vars(options).items() if name in RecordOptions.__dataclass_fields__}
    argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
    return record(RecordOptions(**{**given, "argv": argv, "timeout_s": options.timeout}), os.environ)


def _add_demo(commands: "_Commands[argparse.ArgumentParser]") -> None:
    demo = commands.add_parser("demo", help="the whole pipeline in one process, with nothing to install")
    demo.add_argument("--keep", action="store_true", help="go on until Ctrl-C")
    demo.add_argument("--bootstrap-servers", metavar="HOST", help="on this Kafka cluster, not on the embedded one")
    demo.add_argument("--seconds", type=_seconds, default=8.0, help="how long sessions are recorded; default 8")
    demo.set_defaults(command=_demo)


def _demo(options: argparse.Namespace) -> int:
    from relay.demo.demo_command import demo  # noqa: PLC0415 - loaded when asked for, as every command

    return demo(options.bootstrap_servers, options.seconds, keep=options.keep)


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the YAML configuration")


def _count(text: str) -> int:
    """A number argument of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return int(text)


def _seconds(text: str) -> float:
    """A duration argument: a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text}")
    return value
