"""What a process says by ending: few codes, each with one meaning. The README lists them."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every `ethogram-relay` command."""

    OK = 0
    """The command did what it was asked, or the service was stopped and drained in time."""
    FOUND = 1
    """`check`, `topics check` or `demo` found something: a refusal, a fault, a difference."""
    USAGE = 2
    """The command line was not understood (argparse's own code)."""
    CONFIGURATION = 3
    """The configuration holds faults; all of them were printed."""
    STARTUP = 4
    """The cluster is not as the relay needs it; what to change was printed."""
    FENCED = 5
    """A successor took over this identity, or a transaction outlived its time-out (the broker fences both alike)."""
    FATAL = 6
    """The client or the cluster failed in a way that a restart may mend."""
    DRAIN_TIMEOUT = 7
    """Asked to stop, and the last transaction or the own run could not be ended within the budget."""
