"""`ethogram-relay demo`: the whole pipeline in one process, held to every byte at the end.

Its last line is the result. Everything in it is counted from what was read back, nothing from what the relay says.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from rich.console import Console

from relay.clock import SystemClock
from relay.demo.breakage import BREAKAGES
from relay.demo.feed import Feed
from relay.demo.ground import Ground, embedded_ground, real_ground
from relay.demo.readback import ReadBack
from relay.demo.relay_thread import RelayThread
from relay.demo.table import Display
from relay.demo.verify import Evidence, Report, verify
from relay.errors import ConfigError, Fatal, StartUpError
from relay.exit_codes import ExitCode
from relay.service import StopSignal
from relay.telemetry.http import Health, TelemetryServer
from relay.telemetry.metrics import Metrics

_LOOK_S: Final = 0.125
_SETTLE_MAX_S: Final = 8.0
"""How long the relay may take for what is left once the producers are done; a second is usual."""
_DRAIN_MAX_S: Final = 7.0
"""The relay's own budget of 5 s, and leaving the group."""
_READ_MAX_S: Final = 5.0
_BROKEN_SHOWN_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class _Parts:
    """What runs."""

    ground: Ground
    relay: RelayThread
    reader: ReadBack
    feed: Feed
    stop: StopSignal


def demo(bootstrap_servers: str | None, seconds: float, *, keep: bool) -> ExitCode:
    """Run the demonstration.

    Args:
        bootstrap_servers: A real cluster; None for the embedded one.
        seconds: How long sessions are recorded.
        keep: Go on until Ctrl-C.

    Returns:
        OK; FOUND when something was lost or changed, or another promise broken; the code of what went wrong else.
    """
    console = Console(highlight=False)
    stop = StopSignal()
    stop.install()
    try:
        with real_ground(bootstrap_servers) if bootstrap_servers else embedded_ground() as ground:
            report = _run(ground, console, stop, seconds, keep=keep)
    except StartUpError as error:
        return _failed(console, error.faults, ExitCode.STARTUP)
    except (ConfigError, Fatal) as error:
        return _failed(console, [str(error)], ExitCode.FATAL)
    print(report.last_line(), flush=True)  # noqa: T201 - plain, whatever the terminal: the last line is for programs
    return ExitCode.OK if report.kept else ExitCode.FOUND


def _failed(console: Console, faults: list[str], code: ExitCode) -> ExitCode:
    for fault in faults:
        console.print(f"demo: {fault}", markup=False, soft_wrap=True)
    return code


def _run(ground: Ground, console: Console, stop: StopSignal, seconds: float, *, keep: bool) -> Report:
    """Start everything, watch it, end it in order, and compare."""
    config, clock = ground.config, SystemClock()
    metrics, health = Metrics(config.source_topics), Health(clock)
    with ExitStack() as stack:
        server = TelemetryServer(config.http.host, config.http.port, metrics, health)
        server.start()
        stack.callback(server.stop)
        reader = ReadBack(ground, (*config.source_topics, config.topics.unified, config.topics.quarantine))
        stack.callback(reader.stop)
        parts = _Parts(ground, RelayThread(ground, metrics, health, clock), reader, Feed(ground, clock), stop)
        _introduce(console, ground, f"http://{config.http.host}:{server.port}/metrics", seconds, keep=keep)
        reader.start()
        parts.relay.start()
        with Display(console, metrics, config.source_topics, clock, "committed by the relay so far") as display:
            _watch(parts, display, seconds, keep=keep)
        read_whole = reader.read_to_end(_READ_MAX_S)
    report = verify(_evidence(parts))
    told = [f"the relay: {complaint}" for complaint in parts.relay.complaints()]
    told += [f"a producer: {failure}" for failure in parts.feed.failures]
    report.broken[:0] = told  # first, since they may explain the rest
    if not read_whole:
        report.broken.append("the reader: it did not reach the end of the topics in time")
    if sum(count.consumed for count in display.counts().values()) != report.consumed:
        report.broken.append("the relay's metrics: they tell another number of consumed records")
    _conclude(console, report)
    return report


def _introduce(console: Console, ground: Ground, metrics_url: str, seconds: float, *, keep: bool) -> None:
    said = (
        f"Real commands are recorded for {seconds:g} s as runs of three sources, and some runs are broken on purpose.\n"
        f"One relay forwards what is right to {ground.config.topics.unified} and refuses the rest; then every byte is "
        f"compared.\nOn {ground.said}. Metrics: {metrics_url}"
    )
    console.print(said, markup=False, soft_wrap=True)
    if keep:
        hint = (
            "It goes on until Ctrl-C. From another terminal, record a command of your own into it:\n"
            f"  ethogram-relay record --source {ground.config.source_topics[0]} --bootstrap-servers "
            f"{ground.bootstrap_servers} -- ls -l"
        )
        console.print(hint, markup=False, soft_wrap=True)


def _watch(parts: _Parts, display: Display, seconds: float, *, keep: bool) -> None:
    """Feed for so long, let the relay settle, and stop it; a Ctrl-C shortens the first part."""
    parts.feed.start()
    until_s = time.monotonic() + seconds
    while parts.relay.running and not parts.stop() and (keep or time.monotonic() < until_s):
        if time.monotonic() >= until_s:
            parts.feed.slow_down()
        _look(display)
    parts.feed.stop()
    until_s = time.monotonic() + _SETTLE_MAX_S
    while parts.relay.running and time.monotonic() < until_s and not _settled(parts, display):
        _look(display)
    parts.relay.stop(_DRAIN_MAX_S)


def _look(display: Display) -> None:
    display.show()
    time.sleep(_LOOK_S)


def _settled(parts: _Parts, display: Display) -> bool:
    """Whether the relay has judged all that the source topics hold."""
    consumed = sum(count.consumed for count in display.counts().values())
    return consumed >= max(len(parts.feed.sent), parts.reader.count(parts.ground.config.source_topics))


def _evidence(parts: _Parts) -> Evidence:
    config, records = parts.ground.config, parts.reader.records
    return Evidence(
        sent=parts.feed.sent,
        sources=[record for topic in config.source_topics for record in records[topic]],
        unified=records[config.topics.unified],
        quarantine=records[config.topics.quarantine],
        own_run_prefix=f"{config.relay.name}/",
    )


def _conclude(console: Console, report: Report) -> None:
    """Say what was refused and why, and which promise was not kept."""
    console.print(
        "Refused, each with one capture.refused on the relay's own run, its bytes kept in quarantine:", soft_wrap=True
    )
    order = {breakage.why: place for place, breakage in enumerate(BREAKAGES)}
    for (why, cause), count in sorted(report.refusals.items(), key=lambda entry: order.get(entry[0][0] or "", -1)):
        console.print(f"  {cause:<10} {count:>3}  {why or 'for no reason that the demo gave'}", soft_wrap=True)
    for said in report.broken[:_BROKEN_SHOWN_MAX]:
        console.print(f"broken: {said}", markup=False, soft_wrap=True)
    if len(report.broken) > _BROKEN_SHOWN_MAX:
        console.print(f"broken: {len(report.broken) - _BROKEN_SHOWN_MAX} more like these")
