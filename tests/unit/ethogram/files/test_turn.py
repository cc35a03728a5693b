"""One call at a time: threads take turns, and a process that was forked off has none."""

import os
import threading
from pathlib import Path

import pytest

from ethogram import prove_gapless
from ethogram.files import DirectorySink, FileSink, SinkClosedError, journal
from ethogram.files.reader import EventReader
from tests.unit.ethogram.files.lines import TEXT, clock, line, lines


def test_threads_take_turns(tmp_path: Path) -> None:
    """Appends from several threads to one run are gapless, and each thread gets what it appended."""
    taken: list[int] = []
    with FileSink(tmp_path / "events.jsonl", clock=clock, fsync="never") as sink:

        def append() -> None:
            taken.extend(sink.append_draft("r", TEXT).seq for _ in range(100))

        threads = [threading.Thread(target=append) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert prove_gapless(sink.events("r")) == {"r": 400}
    assert sorted(taken) == list(range(1, 401))


@pytest.mark.parametrize("kind", [FileSink, DirectorySink])
def test_a_forked_process_has_no_sink(
    tmp_path: Path, kind: type[FileSink | DirectorySink], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a fork copied is of no use there: appends are refused, closing does nothing, no descriptor is left."""
    sink = kind(tmp_path / "events", clock=clock)
    sink.append_draft("r", TEXT)
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    journal._abandon_in_child()  # noqa: SLF001 - what a fork calls, without the fork
    with pytest.raises(SinkClosedError, match="forked"):
        sink.append_draft("r", TEXT)
    sink.close()
    assert len(sink.events("r")) == 1
    monkeypatch.undo()
    kind(tmp_path / "events").close()
    with pytest.raises(SinkClosedError):
        sink.append_draft("r", TEXT)


def test_a_file_cut_short_while_it_is_read_ends_there(tmp_path: Path) -> None:
    """A reader that is told of more bytes than there are gives the lines that there are."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines("r", 1, 2) + b"{")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        reader = EventReader(path)
        assert [event.seq for event in reader.read(descriptor, 10_000)] == [1, 2]
        assert reader.byte_offset == 2 * len(line("r", 1))
        assert reader.knows(descriptor)
    finally:
        os.close(descriptor)
