"""A kit in another process, spoken to by lines: `--sdk "COMMAND"`.

Whatever the command does, a case ends within its time with a verdict or a reason, and the next case gets a fair chance:
a command that crashed, hung or lost the thread is started anew, a bounded number of times.

Spec: The founding decision: two implementations, one corpus
"""

import shlex
from typing import Any, Final

from conformance.child import Child, ChildFault
from conformance.kits import KitFault
from conformance.line_protocol import (
    HELLO,
    LINE_BYTES_MAX,
    Hello,
    ProtocolFault,
    read_hello,
    read_verdict,
    write_request,
)
from conformance.vectors import Vector

RESTARTS_MAX: Final = 20
"""How often a command is started anew before its further cases fail unasked."""


class ForeignKit:
    """The kit behind a command.

    Attributes:
        hello: how it introduced itself.
    """

    def __init__(self, command: str, timeout_s: float) -> None:
        """Start it, and hear what it is.

        Args:
            command: the command line, split as a shell would; no shell runs it.
            timeout_s: seconds for each answer, the first one included.

        Raises:
            KitFault: it cannot be started, or does not introduce itself.
        """
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise KitFault(f"--sdk: expected a command line, got one that cannot be split: {error}") from None
        if not self._argv:
            raise KitFault("--sdk: expected a command line, got an empty one")
        self._timeout_s = timeout_s
        self._restarts = 0
        self._child: Child | None = None
        self.hello: Hello = self._start()

    def judge(self, vector: Vector) -> dict[str, Any]:
        """Give the kit's verdict on a case.

        Raises:
            KitFault: there is none; the text says why.

        Spec: The founding decision: two implementations, one corpus
        """
        if vector.op not in self.hello.ops:
            raise KitFault(f"not implemented: the kit does not list the operation {vector.op!a}")
        child = self._child or self._start_anew()
        try:
            return read_verdict(child.exchange(write_request(vector), self._timeout_s), vector)
        except (ChildFault, ProtocolFault) as error:
            self._kill()
            raise KitFault(f"the command {error}" if isinstance(error, ChildFault) else str(error)) from error

    def close(self) -> None:
        """Close the command's input, wait a little, and kill what is left of it."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _start_anew(self) -> Child:
        if self._restarts >= RESTARTS_MAX:
            raise KitFault(f"the command was started anew {RESTARTS_MAX} times, and is not again")
        self._restarts += 1
        self._start()
        if self._child is None:
            raise RuntimeError("expected a command that was started, got none")
        return self._child

    def _start(self) -> Hello:
        try:
            self._child = Child(self._argv, LINE_BYTES_MAX)
            return read_hello(self._child.exchange(HELLO, self._timeout_s))
        except (ChildFault, ProtocolFault) as error:
            self._kill()
            raise KitFault(f"the command {error}" if isinstance(error, ChildFault) else str(error)) from error

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
