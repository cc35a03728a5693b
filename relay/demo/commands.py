"""The commands that are recorded: real ones, that exist wherever Python does."""

import shutil
import sys
from dataclasses import dataclass
from typing import Final

_PYTHON: Final = (sys.executable, "-I", "-S", "-c")
"""Isolated and without `site`: 15 ms a start instead of 40."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One command.

    Attributes:
        argv: The program and its arguments.
        every: It is run in one of so many rounds.
        timeout_s: The longest it may run.
    """

    argv: tuple[str, ...]
    every: int = 1
    timeout_s: float | None = None


LISTING: Final = Recorded((*_PYTHON, "import os, sys; print(*sorted(os.listdir(sys.prefix)), sep='\\n')"))
"""Prints a little and succeeds: the run that is broken on purpose, too."""

_FOUND_ONLY_SOMEWHERE: Final = (("uname", "-a"), ("git", "--version"), ("ls", "-l", "/"))

COMMANDS: Final = (
    LISTING,
    Recorded((*_PYTHON, "import sys; print(sys.version)")),
    Recorded((*_PYTHON, "print(1 / 0)"), every=2),
    Recorded((*_PYTHON, "print('plenty: \\U0001f40b\\u00e9\\n' * 60_000)"), every=6),
    Recorded((*_PYTHON, "import sys; sys.stdout.buffer.write(bytes(range(256)))"), every=4),
    Recorded((*_PYTHON, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"), every=6),
    Recorded((*_PYTHON, "import time; time.sleep(60)"), every=12, timeout_s=0.2),
    Recorded(("a-command-that-is-not-there",), every=6),
    *(Recorded(argv, every=2) for argv in _FOUND_ONLY_SOMEWHERE if shutil.which(argv[0])),
)


def commands_of_round(number: int) -> list[Recorded]:
    """The commands of one round.

    Args:
        number: The round, from 0.
    """
    return [command for command in COMMANDS if number % command.every == 0]
