"""Following: replay from any `seq`, then each new event as the writer adds it.

It must never write, take a lock, or give an event before its line feed is there.

Spec: The envelope
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ethogram.bounds import FIRST_SEQ
from ethogram.envelope import Event
from ethogram.files.directory_sink import EVENTS_NAME
from ethogram.files.followed import DirectoryFollower, FileFollower, Wanted
from ethogram.files.naming import name_of_run


class Follower:
    """Gives what is new, each time it is asked. It holds nothing open between two polls, and needs no closing."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        run_id: str | None = None,
        *,
        from_seq: int | Mapping[str, int] = FIRST_SEQ,
        must_exist: bool = False,
    ) -> None:
        """Nothing is read before the first poll.

        Args:
            path: a file of events, or the root of a `DirectorySink`, whose new runs are found as they appear.
            run_id: the one run that is wanted, or None for all of them.
            from_seq: the 1-based `seq` to begin at, for every run; or one for each run of a mapping, and 1 for others.
            must_exist: whether a path that is not there is an error at the first poll. Otherwise it is waited for.

        Raises:
            ValueError: a `from_seq` is below 1.
            ParseError: the run id has a lone surrogate.
        """
        self._path = Path(path)
        self._run_id = run_id
        self._run_name = None if run_id is None else name_of_run(run_id)
        self._wanted = Wanted(run_id, from_seq)
        self._must_exist = must_exist
        self._followed: FileFollower | DirectoryFollower | None = None

    @property
    def is_finished(self) -> bool:
        """Whether all there will ever be was given: one run was followed, to its `run.finished`."""
        return self._followed is not None and self._followed.is_finished

    def poll(self) -> list[Event]:
        """Give the next events, about a megabyte of them at most; it never waits.

        An exception from outside, such as a signal's, that ends a poll takes with it what the poll had read. Follow
        anew then, from the `seq` that comes next.

        Returns:
            Events, those of each run in order and gapless; an empty list where nothing is new.

        Raises:
            FileDamagedError: a whole line is not the next event of its run. Events before it were given.
            FileReplacedError: a file was removed, replaced, cut short or written over before where it was read.
            FileNotFoundError: `must_exist`, and it does not.
            OSError: a file cannot be read.

        Spec: The envelope
        """
        if self._followed is None:
            self._followed = self._find()
        return [] if self._followed is None else self._followed.poll()

    def _find(self) -> FileFollower | DirectoryFollower | None:
        """What there is to follow at the path, or None while there is nothing."""
        if not self._path.exists():
            if self._must_exist:
                raise FileNotFoundError(f"{self._path}: expected a file or a directory to follow, got nothing there")
            return None
        if not self._path.is_dir():
            return FileFollower(self._path, self._wanted, must_exist=self._must_exist)
        if self._run_name is not None:
            path = self._path / self._run_name / EVENTS_NAME
            return FileFollower(path, self._wanted, must_exist=self._must_exist, run_name=self._run_name)
        return DirectoryFollower(self._path, EVENTS_NAME, self._wanted)


def follow(
    path: str | os.PathLike[str],
    run_id: str | None = None,
    *,
    from_seq: int | Mapping[str, int] = FIRST_SEQ,
    must_exist: bool = False,
    poll_interval_s: float = 0.1,
    stop: Callable[[], bool] | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Event]:
    """Replay events from any `seq`, then wait for more and give them as they come.

    It ends after the `run.finished` of the one run that is wanted, or once `stop` says so. Without either it goes on.

    Args:
        path: a file of events, or the root of a `DirectorySink`, whose new runs are found as they appear.
        run_id: the one run that is wanted, or None for all of them.
        from_seq: the 1-based `seq` to begin at, for every run; or one for each run of a mapping, and 1 for others.
        must_exist: whether a path that is not there is an error. Otherwise it is waited for.
        poll_interval_s: seconds between two looks at a file that has not grown.
        stop: asked before each look; once it is true, what is there is given, and the following ends. With one that is
            always true, this is a replay.
        sleep: waits for a number of seconds; `Event.wait` of `threading` can be woken.

    Returns:
        An iterator over events, those of each run in order and gapless.

    Raises:
        ValueError: a `from_seq` is below 1, or `poll_interval_s` is not above 0.
        ParseError: the run id has a lone surrogate.
        FileDamagedError: from the iterator: a whole line is not the next event of its run.
        FileReplacedError: from the iterator: a file is not the one that was read from.
        FileNotFoundError: from the iterator: `must_exist`, and it does not.
        OSError: from the iterator: a file cannot be read.

    Spec: The envelope
    """
    if not poll_interval_s > 0:
        raise ValueError("poll_interval_s: expected a number above 0, got another (interval)")
    follower = Follower(path, run_id, from_seq=from_seq, must_exist=must_exist)
    return _follow(follower, poll_interval_s, stop, sleep)


def _follow(
    follower: Follower, poll_interval_s: float, stop: Callable[[], bool] | None, sleep: Callable[[float], object]
) -> Iterator[Event]:
    while not follower.is_finished:
        # Asked before the look, so that what was there when it became true is still given.
        is_stopped = stop is not None and stop()
        events = follower.poll()
        yield from events
        if events or follower.is_finished:
            continue
        if is_stopped:
            return
        sleep(poll_interval_s)
