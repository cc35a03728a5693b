"""Every sink there is, made alike: in memory, on a file, on a directory, and the latter two restarted at each call."""

from collections.abc import Callable
from pathlib import Path

from ethogram import Event, EventDraft, InMemorySink
from ethogram.envelope import JsonValue
from ethogram.files import DirectorySink, FileSink, Fsync
from ethogram.sink import Sink

Clock = Callable[[], str]


class RestartedSink:
    """A sink whose process might as well have ended between any two of its calls."""

    def __init__(self, reopen: Callable[[], FileSink | DirectorySink]) -> None:
        """Take what opens it anew."""
        self._reopen = reopen

    def append_draft(self, run_id: str, draft: EventDraft | dict[str, JsonValue]) -> Event:
        """Open, append, close."""
        with self._reopen() as sink:
            return sink.append_draft(run_id, draft)

    def append_event(self, event: Event | dict[str, JsonValue]) -> Event:
        """Open, append, close."""
        with self._reopen() as sink:
            return sink.append_event(event)

    def next_seq(self, run_id: str) -> int:
        """Open, ask, close."""
        with self._reopen() as sink:
            return sink.next_seq(run_id)

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Open, read, close."""
        with self._reopen() as sink:
            return sink.events(run_id)

    def close(self) -> None:
        """Nothing is open."""


AnySink = InMemorySink | FileSink | DirectorySink | RestartedSink


def in_memory(_folder: Path, clock: Clock, *, validating: bool = False) -> InMemorySink:
    """A sink in memory."""
    return InMemorySink(clock, validating=validating)


def on_a_file(folder: Path, clock: Clock, *, validating: bool = False, fsync: Fsync = "append") -> FileSink:
    """A sink on one file."""
    return FileSink(folder / "events.jsonl", clock=clock, validating=validating, fsync=fsync)


def on_a_directory(folder: Path, clock: Clock, *, validating: bool = False, fsync: Fsync = "append") -> DirectorySink:
    """A sink on a directory."""
    return DirectorySink(folder / "runs", clock=clock, validating=validating, fsync=fsync)


def on_a_file_restarted(folder: Path, clock: Clock, *, validating: bool = False) -> RestartedSink:
    """A sink on one file that is opened anew for each call."""
    return RestartedSink(lambda: on_a_file(folder, clock, validating=validating, fsync="never"))


def on_a_directory_restarted(folder: Path, clock: Clock, *, validating: bool = False) -> RestartedSink:
    """A sink on a directory that is opened anew for each call."""
    return RestartedSink(lambda: on_a_directory(folder, clock, validating=validating, fsync="never"))


KINDS = (in_memory, on_a_file, on_a_directory, on_a_file_restarted, on_a_directory_restarted)


def close(sink: AnySink) -> None:
    """Close what can be closed."""
    if not isinstance(sink, InMemorySink):
        sink.close()


def as_sink(sink: AnySink) -> Sink:
    """Every kind fits the protocol; the type checker says so here."""
    return sink
