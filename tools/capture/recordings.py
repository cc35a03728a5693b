"""What the recorder can emit, and how each of it is provoked: real commands under the real command line."""

import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ethogram import parse_event
from relay import __version__
from tools.capture.corpus import Capture, CaptureFault

_SOURCE: Final = ("--source", "garden", "--actor", "ada")
_SH: Final = ("sh", "-c")
_WAIT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded command.

    Attributes:
        name: of the capture.
        argv: the command.
        how: what happens, in a sentence.
        new: the name of each variant that it adds, by type; its other events are of variants known before it.
        options: more options of `record`.
        interrupt: the signal that is sent to the recorder once the command runs.
    """

    name: str
    argv: tuple[str, ...]
    how: str
    new: Mapping[str, str]
    options: tuple[str, ...] = ()
    interrupt: signal.Signals | None = None


_STARTED_WITH: Final = {
    "repository": ("--repository", "example/garden"),
    "work-order": ("--work-order", "WO-7"),
    "ceilings": ("--timeout", "30"),
}

_BASE: Final = (
    Recording(
        "recorder-completed",
        (*_SH, "echo All is well."),
        "A command prints a line and ends well.",
        {
            "run.started": "session",
            "agent.started": "process",
            "agent.tool_use": "command",
            "agent.text": "beneath-a-call",
            "agent.tool_result": "answered",
            "agent.completed": "duration",
            "run.finished": "completed",
        },
    ),
    Recording("recorder-silent", ("true",), "A command prints nothing.", {"agent.tool_result": "answered-empty"}),
    Recording(
        "recorder-exit-code",
        (*_SH, "echo There is no such bed. >&2; exit 3"),
        "A command prints an error and ends with exit code 3.",
        {"agent.tool_result": "error", "run.finished": "failed-exit-code"},
    ),
    Recording(
        "recorder-exit-code-silent",
        ("false",),
        "A command ends with exit code 1 and prints nothing.",
        {"agent.tool_result": "error-empty"},
    ),
    Recording(
        "recorder-killed",
        (*_SH, "kill -9 $$"),
        "A command is ended by a signal that nobody sent through the recorder.",
        {"run.finished": "failed-signal"},
    ),
    Recording(
        "recorder-timed-out",
        ("sleep", "30"),
        "A command runs longer than it may.",
        {"run.finished": "timed-out"},
        ("--timeout", "0.5"),
    ),
    *(
        Recording(
            f"recorder-interrupted-{number.name.lower()}",
            ("sleep", "30"),
            f"The recorder gets a {number.name} while the command runs.",
            {"run.finished": f"interrupted-{number.name.lower()}"},
            interrupt=number,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ),
    Recording(
        "recorder-missing-binary",
        ("./no-such-gardener",),
        "The program does not exist.",
        {"run.finished": "unstarted-missing-binary"},
    ),
    Recording(
        "recorder-not-executable",
        ("./seeds.txt",),
        "The program is a file that may not be executed.",
        {"run.finished": "unstarted-permission-denied"},
    ),
    Recording(
        "recorder-no-program",
        ("./weeds",),
        "The program may be executed, and is none.",
        {"run.finished": "unstarted-exec-format"},
    ),
    Recording(
        "recorder-beyond-ascii",
        ("printf", "春の庭 🌷 naïve\\n"),
        "A command prints Japanese, an emoji and an accent, and is given them.",
        {
            "agent.tool_use": "command-beyond-ascii",
            "agent.text": "beyond-ascii",
            "agent.tool_result": "answered-beyond-ascii",
        },
    ),
    Recording(
        "recorder-controls",
        ("printf", "\\033[32mgreen\\033[0m\\a \\001\\177\\n"),
        "A command prints colours and control characters.",
        {"agent.text": "controls", "agent.tool_result": "answered-controls"},
    ),
    Recording(
        "recorder-not-utf-8",
        ("printf", "\\377 caf\\351\\n"),
        "A command prints bytes that are not UTF-8.",
        {"agent.text": "replaced", "agent.tool_result": "answered-replaced"},
    ),
    Recording(
        "recorder-long-output",
        (*_SH, "yes 'Every bed has been watered twice today.' | head -n 450"),
        "A command prints more than narration may hold.",
        {"agent.text": "truncated", "agent.tool_result": "answered-truncated"},
    ),
    Recording(
        "recorder-long-output-failed",
        (*_SH, "yes 'This bed is dry, and so is the next one.' | head -n 120; exit 4"),
        "A command prints more than an excerpt may hold, and fails.",
        {"agent.tool_result": "error-truncated"},
    ),
    Recording(
        "recorder-long-input",
        (*_SH, "true", *(f"bed-{number}" for number in range(700))),
        "A command is given more arguments than an excerpt may hold.",
        {"agent.tool_use": "command-truncated"},
    ),
)


def _with_options() -> list[Recording]:
    """A recording for every choice of what may be said of a session besides."""
    names = list(_STARTED_WITH)
    choices = [[name for bit, name in enumerate(names) if mask >> bit & 1] for mask in range(1, 2 ** len(names))]
    return [
        Recording(
            f"recorder-with-{'-and-'.join(chosen)}",
            ("true",),
            f"A session is started with {', '.join(chosen)}.",
            {"run.started": f"session-with-{'-and-'.join(chosen)}"},
            tuple(option for name in chosen for option in _STARTED_WITH[name]),
        )
        for chosen in choices
    ]


RECORDINGS: Final = (*_BASE, *_with_options())
"""Everything that the recorder can emit."""


def capture(recording: Recording, folder: Path) -> tuple[Capture, list[bytes]]:
    """Record a command and keep what was emitted.

    Args:
        recording: which.
        folder: an empty folder to run it in.

    Returns:
        The capture, with the events of the variants that it adds; and every event, as emitted.

    Raises:
        CaptureFault: a type that was declared did not come.
    """
    (folder / "seeds.txt").write_text("poppy\n")
    (folder / "weeds").write_text("\0no program")
    (folder / "weeds").chmod(0o755)
    options = [*_SOURCE, *recording.options]
    shown = ["ethogram-relay", "record", *options, "--", *recording.argv]
    program = [
        str(Path(sys.executable).with_name("ethogram-relay")),
        *shown[1:4],
        "--to-file",
        "events.jsonl",
        *shown[4:],
    ]
    process = subprocess.Popen(
        program, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    if recording.interrupt is not None:
        _wait_for(folder / "events.jsonl", b"agent.tool_use")
        process.send_signal(recording.interrupt)
    process.wait(_WAIT_S)
    emitted: dict[str, bytes] = {}
    lines = (folder / "events.jsonl").read_bytes().splitlines()
    for line in lines:
        event_type = parse_event(line).type
        if event_type in recording.new:
            emitted[f"{event_type}/{recording.new[event_type]}"] = line
    missing = {f"{event_type}/{name}" for event_type, name in recording.new.items()} - emitted.keys()
    if missing:
        raise CaptureFault(f"{recording.name}: expected {', '.join(sorted(missing))}, got no such event")
    versions = {"ethogram-relay": __version__, "python": platform.python_version()}
    return Capture(recording.name, "recorder", shown, recording.how, versions, emitted), lines


def _wait_for(path: Path, said: bytes) -> None:
    deadline_s = time.monotonic() + _WAIT_S
    while not path.exists() or said not in path.read_bytes():
        if time.monotonic() > deadline_s:
            raise CaptureFault(f"{path.name}: expected it to hold {said.decode()} in {_WAIT_S:g} s")
        time.sleep(0.02)
