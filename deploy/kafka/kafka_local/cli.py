"""The command line of `deploy/kafka/broker`: arguments, what is printed, and exit codes; nothing else."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from deploy.kafka.kafka_local import cluster
from deploy.kafka.kafka_local import state as cluster_state
from deploy.kafka.kafka_local.errors import LocalKafkaError
from deploy.kafka.kafka_local.jars import REPOSITORY
from deploy.kafka.kafka_local.settings import REPLICAS_MAX, Profile
from deploy.kafka.kafka_local.state import ClusterState

DEFAULT_FOLDER = REPOSITORY / ".kafka" / "local"
DEFAULT_PORT = 9092
PORT_MAX = 65535
BOOTSTRAP_MARK = "{bootstrap}"
COMMAND_END_TIMEOUT_S = 30.0

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNING = 3
EXIT_PARTLY_RUNNING = 4
EXIT_SIGNAL_BASE = 128

DESCRIPTION = f"""A real Apache Kafka on loopback, from packages alone: no Docker, no Java to install.

  start   start it, unless it runs; it answers clients when this returns
  stop    end it and remove its data, logs and folder
  status  say where it listens; exit code 0 if it runs, {EXIT_NOT_RUNNING} if not,
          {EXIT_PARTLY_RUNNING} if only some of its brokers do
  run     start it on free ports, run a command, stop it, and exit as the command did. In the command's
          arguments the text {BOOTSTRAP_MARK} is replaced, and KAFKA_BOOTSTRAP_SERVERS is set for it.

The jars (56 MB) are fetched once, into $ETHOGRAM_CACHE_DIR, else $XDG_CACHE_HOME/ethogram-relay, else
~/.cache/ethogram-relay. Data is never kept: stop removes it."""


def build_parser() -> argparse.ArgumentParser:
    """Declare the four commands and their options."""
    parser = argparse.ArgumentParser(
        prog="broker", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="start|stop|status|run")
    for name in ("start", "stop", "status", "run"):
        command = commands.add_parser(name)
        command.add_argument(
            "--dir", type=Path, help=f"the folder (default {'a new one' if name == 'run' else '.kafka/local'})"
        )
        if name in {"start", "run"}:
            command.add_argument("--brokers", type=int, default=1, choices=range(1, REPLICAS_MAX + 1), help="default 1")
            command.add_argument(
                "--profile", type=Profile, default=Profile.TEST, choices=list(Profile), help="default test"
            )
        if name == "start":
            command.add_argument("--port", type=int, default=DEFAULT_PORT, help="the first broker's (default 9092)")
        if name == "run":
            command.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- COMMAND ...")
    return parser


def _describe(state: ClusterState, folder: Path) -> str:
    """Say in four lines what runs where."""
    pids = " ".join(str(broker.process.pid) for broker in state.brokers)
    kafka = f"{state.version}, profile {state.profile}"
    return f"bootstrap: {state.bootstrap_servers}\nkafka: {kafka}\npids: {pids}\ndir: {folder}\n"


def run_start(folder: Path, first_port: int, broker_count: int, profile: Profile) -> int:
    """Start the cluster and say where it is."""
    if not 1 <= first_port <= PORT_MAX - broker_count + 1:
        sys.stderr.write(f"broker: --port: expected a port from 1 to {PORT_MAX - broker_count + 1}, got {first_port}\n")
        return EXIT_USAGE
    ports = [first_port + index for index in range(broker_count)]
    state, is_new = cluster.start(folder, ports, broker_count, profile)
    sys.stdout.write(("" if is_new else "already running\n") + _describe(state, folder))
    return 0


def run_stop(folder: Path) -> int:
    """Stop the cluster; that there is none is no failure."""
    sys.stdout.write("stopped\n" if cluster_state.stop(folder) else f"not running: {folder}\n")
    return 0


def run_status(folder: Path) -> int:
    """Say whether the cluster runs, and where."""
    state = cluster_state.load_state(folder)
    alive = state.alive() if state is not None else ()
    if state is None or not alive:
        remains = "" if state is None else " (its brokers ended without stop; start or stop cleans up)"
        sys.stdout.write(f"not running: {folder}{remains}\n")
        return EXIT_NOT_RUNNING
    sys.stdout.write(_describe(state, folder))
    if state.is_running():
        return 0
    sys.stdout.write(f"partly running: {len(alive)} of {state.broker_count} brokers\n")
    return EXIT_PARTLY_RUNNING


@contextlib.contextmanager
def _forwarded_signals(command: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand SIGINT and SIGTERM on to the command for as long as the block runs."""

    def forward(number: int, _frame: FrameType | None) -> None:
        # A terminal's Ctrl-C reaches the command by itself: twice would tell many programs to give up their clean end.
        if not (number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty()):
            command.send_signal(number)
        signal.setitimer(signal.ITIMER_REAL, COMMAND_END_TIMEOUT_S)

    def end(_number: int, _frame: FrameType | None) -> None:
        command.kill()

    handlers = {signal.SIGINT: forward, signal.SIGTERM: forward, signal.SIGALRM: end}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def run_command(folder: Path | None, broker_count: int, profile: Profile, argv: Sequence[str]) -> int:
    """Run a command beside a cluster of its own.

    Args:
        folder: Where to keep the cluster; None for a new temporary folder.
        broker_count: How many brokers.
        profile: What it is for.
        argv: The command and its arguments.

    Returns:
        The command's exit code, 128 and the signal's number if one ended it, 127 if there is no such command.
    """
    with cluster.running(folder, broker_count, profile) as state:
        bootstrap = state.bootstrap_servers
        try:
            command = subprocess.Popen(  # noqa: S603 - the command that the user gave
                [text.replace(BOOTSTRAP_MARK, bootstrap) for text in argv],
                env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": bootstrap},
            )
        except OSError as error:
            sys.stderr.write(f"broker: {argv[0]}: {error.strerror}\n")
            return 127
        with _forwarded_signals(command):
            code = command.wait()
    return code if code >= 0 else EXIT_SIGNAL_BASE - code


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    """Turn SIGTERM into an exception, so that a start that it interrupts cleans up."""
    raise SystemExit(EXIT_SIGNAL_BASE + number)


def dispatch(options: argparse.Namespace) -> int:
    """Call the command that was named."""
    folder: Path = (options.dir or DEFAULT_FOLDER).expanduser().absolute()
    match options.command:
        case "start":
            return run_start(folder, options.port, options.brokers, options.profile)
        case "stop":
            return run_stop(folder)
        case "status":
            return run_status(folder)
        case _:
            argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
            if not argv:
                sys.stderr.write("broker: run: expected `-- COMMAND ...`, got no command\n")
                return EXIT_USAGE
            return run_command(folder if options.dir else None, options.brokers, options.profile, argv)


def main(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: Without the program's name.

    Returns:
        The exit code: 0 done, 1 failed with the reason on standard error, 2 wrong usage, others as described.
    """
    options = build_parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return dispatch(options)
    except LocalKafkaError as error:
        sys.stderr.write(f"broker: {error}\n")
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_SIGNAL_BASE + signal.SIGINT
